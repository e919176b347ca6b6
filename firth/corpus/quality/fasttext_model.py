"""The step that scores documents by a fastText model."""

from firth import storage
from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.fasttext_file import check_fasttext_file
from firth.corpus.quality.scoring import Scoring
from firth.lazy import import_extra
from firth.recipes.corpus.scoring import FastTextStep

_ALL_LABELS = -1
# With 0 a model of hierarchical softmax would leave out labels of less than about 1e-5.
_NO_THRESHOLD = -1.0


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
        # What the bindings raise is a ValueError for a file in another format, and a RuntimeError for others.
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
            try:
                return FastTextClassifier(path)
            except CorpusError as error:
                raise CorpusError(f"fasttext: {config.path}: {error}") from error
