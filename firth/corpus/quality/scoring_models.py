"""Steps that score documents by a model of fastText or of scikit-learn."""

import os
import struct
from collections.abc import Sequence
from typing import IO

from firth import storage
from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.scoring import Scoring
from firth.lazy import import_extra
from firth.recipes.corpus.classifiers import FastTextStep, ScikitLearnStep
from firth.storage import open_file

_ALL_LABELS = -1
# With 0 a model of hierarchical softmax would leave out labels of less than about 1e-5.
_NO_THRESHOLD = -1.0
_MAGIC = 793712314
# Magic number and version; twelve numbers and a threshold that the model was trained with.
_HEADER = struct.Struct("<2i12id")
# Entries, words, labels, tokens, and pairs of a dictionary that was pruned, -1 for one that was not.
_DICTIONARY = struct.Struct("<3i2q")
# After the zero at the end of an entry's text: how often it occurred, and whether it is a label.
_ENTRY_BYTES = 1 + 8 + 1
_PAIR_BYTES, _FLOAT_BYTES = 8, 4
_FLAG, _DENSE, _QUANTIZED, _QUANTIZER = (struct.Struct(each) for each in ("<?", "<2q", "<?2qi", "<4i"))
_CENTROIDS = 256
_BLOCK_BYTES = 2**20


class FastTextClassifier:
    """A supervised model of fastText.

    Attributes:
        labels: Labels of the model, with the prefix that they were trained with, sorted.
    """

    def __init__(self, path: str) -> None:
        (fasttext,) = import_extra(CorpusError, "classifiers", "fasttext")
        check_fasttext_file(path)
        try:
            self._model = fasttext.load_model(path)
            self.labels = sorted(self._probabilities(""))
        # The bindings raise ValueError for a file in another format, and RuntimeError for others.
        except (ValueError, RuntimeError) as error:
            raise CorpusError(f"it is not a supervised model of fastText: {error}") from error

    def score(self, text: str, label: str) -> float:
        """Returns the probability of a label, in [0, 1]."""
        # Sums of rounded numbers are sometimes a little above 1.
        return min(self._probabilities(text.replace("\n", " ")).get(label, 0.0), 1.0)

    def _probabilities(self, line: str) -> dict[str, float]:
        labels, probabilities = self._model.predict(line, k=_ALL_LABELS, threshold=_NO_THRESHOLD)
        return dict(zip(labels, map(float, probabilities)))


class FastText(Scoring):
    """Drops documents by the probability of a label of a fastText model."""

    @staticmethod
    def load(config: FastTextStep) -> FastTextClassifier:  # noqa: D102
        with storage.local_copy(config.path) as path:
            return FastTextClassifier(path)


def check_fasttext_file(path: str) -> None:
    """Checks that a file is not cut short. A file of another format passes.

    fastText itself reads zeros or other data beyond the end of a file, or never returns.
    """
    size = storage.size_of(path)
    with storage.open_file(path) as file:
        try:
            end = _end_of(file)
        except EOFError:
            raise CorpusError(f"it ends too early, after {size:,} bytes, within its dictionary") from None
    if end > size:
        raise CorpusError(f"it ends too early: it has {size:,} bytes of {end:,}")


def _end_of(file: IO[bytes]) -> int:
    start = file.read(_HEADER.size)
    if start[:4] != _MAGIC.to_bytes(4, "little"):
        return 0
    if len(start) < _HEADER.size:
        raise EOFError
    entries, _, _, _, pairs = _read(file, _DICTIONARY)
    _skip_entries(file, entries)
    file.seek(max(pairs, 0) * _PAIR_BYTES, os.SEEK_CUR)
    (is_quantized,) = _read(file, _FLAG)
    _skip_matrix(file, is_quantized)
    (is_output_quantized,) = _read(file, _FLAG)
    _skip_matrix(file, is_quantized and is_output_quantized)
    return file.tell()


def _read(file: IO[bytes], numbers: struct.Struct) -> tuple[int, ...]:
    """Returns numbers; zeros after the end, beyond which the place in the file is then."""
    data = file.read(numbers.size)
    if len(data) < numbers.size:
        file.seek(numbers.size - len(data), os.SEEK_CUR)
    return numbers.unpack(data.ljust(numbers.size, b"\0"))


def _skip_entries(file: IO[bytes], count: int) -> None:
    block, place = b"", 0
    for _ in range(count):
        while (end := block.find(b"\0", place)) < 0 or end + _ENTRY_BYTES > len(block):
            more = file.read(_BLOCK_BYTES)
            if not more:
                raise EOFError
            block, place = block[place:] + more, 0
        place = end + _ENTRY_BYTES
    file.seek(place - len(block), os.SEEK_CUR)


def _skip_matrix(file: IO[bytes], is_quantized: int) -> None:
    if not is_quantized:
        rows, columns = _read(file, _DENSE)
        file.seek(rows * columns * _FLOAT_BYTES, os.SEEK_CUR)
        return
    has_norms, rows, _, codes = _read(file, _QUANTIZED)
    file.seek(codes, os.SEEK_CUR)
    _skip_quantizer(file)
    if has_norms:
        file.seek(rows, os.SEEK_CUR)
        _skip_quantizer(file)


def _skip_quantizer(file: IO[bytes]) -> None:
    width, _, _, _ = _read(file, _QUANTIZER)
    file.seek(width * _CENTROIDS * _FLOAT_BYTES, os.SEEK_CUR)


class ScikitLearnClassifier:
    """A classifier of scikit-learn that takes texts.

    Attributes:
        labels: Labels of the model, as text.
    """

    def __init__(self, content: bytes, trusted: Sequence[str] = ()) -> None:
        (skops,) = import_extra(CorpusError, "classifiers", "skops.io")
        try:
            found = skops.get_untrusted_types(data=content)
        # skops raises errors of many types for files that are not valid.
        except Exception as error:
            raise CorpusError(f"it is not a file of skops: {error}") from error
        if others := sorted({*found} - {*trusted}):
            raise CorpusError(f"it holds {', '.join(others)}; name what may be loaded under trusted")
        self._model = skops.loads(content, trusted=list(trusted))
        if not hasattr(self._model, "predict_proba"):
            raise CorpusError(f"{type(self._model).__name__} has no predict_proba")
        self.labels = [str(label) for label in self._model.classes_]

    def score(self, text: str, label: str) -> float:
        """Returns the probability of a label, in [0, 1]."""
        # One text at a time, since the last bits of a product may depend on the other rows.
        return float(self._model.predict_proba([text])[0, self.labels.index(label)])


class ScikitLearn(Scoring):
    """Drops documents by the probability of a label of a classifier of scikit-learn."""

    @staticmethod
    def load(config: ScikitLearnStep) -> ScikitLearnClassifier:  # noqa: D102
        with open_file(config.path) as file:
            return ScikitLearnClassifier(file.read(), config.trusted)
