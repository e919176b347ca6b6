"""Evidence of contamination that a model carries: the evaluation data found in each corpus it was trained on.

A bundle has it in its folder `contamination`. Runs that continue from the bundle and the scores of its tasks
read it there.
"""

import contextlib
import dataclasses
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth import storage
from firth.corpus.text.comparable_text import comparable_words
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.storage.tensor_files import TensorFile, spec_of, write_tensors

Hashes = npt.NDArray[np.uint64]
# The file `<step>` with this suffix is next to the step's `<step>.json`.
SUFFIX = ".ngrams.safetensors"
_FORMAT = "1"
FOLDER = "contamination"
_INDEX = "corpora.json"


class LookupResult(NamedTuple):
    """The result of looking up texts.

    Attributes:
        found: bool [texts], whether an n-gram of the text was found in the corpus.
        searched: bool [texts], whether the text, or a part of it, is among the searched examples.
    """

    found: npt.NDArray[np.bool_]
    searched: npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class FoundNgrams:
    """The n-grams of evaluation data that a step found in a corpus, without the texts themselves.

    N-grams are 64-bit hashes, which differ for all n-grams of the evaluation data. A record of these data is
    found by its texts alone, whatever its id, its file, and the columns that it was read from.

    Attributes:
        step: Name of the step.
        action: Action of the step in the recipe: `drop`, `cut` or `keep`.
        ngram_words: Number of words in an n-gram, as `comparable_words` returns them.
        benchmarks: Counts by benchmark: `benchmark`, its name, `examples` and `examples_found`.
        seed: Number that the hash function depends on.
        found: uint64 [n], hashes of the n-grams that were found in the corpus, ascending.
        ends: uint64 [n], hashes of the first and the last n-gram of each example, ascending.
    """

    step: str
    action: str
    ngram_words: int
    benchmarks: Sequence[dict[str, Any]]
    seed: int
    found: Hashes
    ends: Hashes

    def look_up(self, texts: Sequence[str]) -> LookupResult:
        """Returns which texts were found in the corpus, and which were searched for.

        Example:

        >>> hashes, _ = shingle_hashes(*word_hashes([["call", "me"], ["me", "ishmael"], ["a", "whale"]]), 2)
        >>> known = FoundNgrams("step", "keep", 2, (), 0, hashes[:1], np.sort(hashes[:2]))
        >>> known.look_up(["Call me ...", "me, Ishmael", "a whale"])
        LookupResult(found=array([ True, False, False]), searched=array([ True,  True, False]))
        """
        words = [comparable_words(text) for text in texts]
        hashes, runs = shingle_hashes(*word_hashes(words, self.seed), self.ngram_words)
        owners = np.repeat(np.arange(len(texts)), np.diff(runs))
        return LookupResult(
            *(_any(np.isin(hashes, known), owners, len(texts)) for known in (self.found, self.ends))
        )

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes `<step>.ngrams.safetensors`."""
        arrays = {"found": self.found, "ends": self.ends}
        metadata = {
            "format": _FORMAT,
            "step": self.step,
            "action": self.action,
            "ngram_words": str(self.ngram_words),
            "benchmarks": json.dumps(list(self.benchmarks)),
            "seed": str(self.seed),
        }
        with storage.scratch_folder() as scratch:
            path = os.path.join(scratch, "file")
            write_tensors(
                path, {name: spec_of(each) for name, each in arrays.items()}, arrays.items(), metadata
            )
            storage.copy_file(path, os.path.join(folder, self.step + SUFFIX))


def load_found(path: str | os.PathLike[str]) -> FoundNgrams:
    """Returns the n-grams that a step found.

    Raises:
        OSError: if it cannot be read.
    """
    with storage.local_copy(path) as local:
        file = TensorFile(local)
        metadata = file.metadata
        if metadata.get("format") != _FORMAT:
            raise ValueError(f"{os.fspath(path)} is not of format {_FORMAT}; it says {metadata}")
        return FoundNgrams(
            step=metadata["step"],
            action=metadata["action"],
            ngram_words=int(metadata["ngram_words"]),
            benchmarks=json.loads(metadata["benchmarks"]),
            seed=int(metadata["seed"]),
            found=file["found"],
            ends=file["ends"],
        )


def _any(hits: npt.NDArray[np.bool_], owners: npt.NDArray[np.int64], texts: int) -> npt.NDArray[np.bool_]:
    return np.bincount(owners[hits], minlength=texts) > 0


class CorpusEvidence(NamedTuple):
    """Evidence about the corpora that one run trained on.

    Attributes:
        model: Name of the run's recipe.
        files: Paths of the files of `FoundNgrams.save`; empty if no step searched for evaluation data.
    """

    model: str
    files: tuple[str, ...]

    def load(self) -> list[FoundNgrams]:
        """Returns the n-grams that its steps found."""
        return [load_found(path) for path in self.files]


def list_found_ngrams(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Returns the paths of the files of `FoundNgrams.save` in the folder of a corpus report or of rows."""
    return tuple(sorted(storage.glob(os.path.join(folder, f"*{SUFFIX}"))))


def copy_found(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copies the found n-grams of a corpus report to the folder `contamination` of another artifact."""
    for path in list_found_ngrams(source):
        storage.copy_file(path, os.path.join(target, FOLDER, os.path.basename(path)))


def read_evidence(bundle: str | os.PathLike[str]) -> list[CorpusEvidence]:
    """Returns the evidence that a bundle carries, in the order of training; empty if it carries none."""
    folder = os.path.join(bundle, FOLDER)
    return [
        CorpusEvidence(each["model"], tuple(os.path.join(folder, name) for name in each["files"]))
        for each in storage.read_json(os.path.join(folder, _INDEX)) or ()
    ]


@contextlib.contextmanager
def evidence_files(corpora: list[CorpusEvidence]) -> Iterator[dict[str, str]]:
    """Holds the files that `write_evidence` writes: their paths, by their names in a bundle."""
    with storage.scratch_folder() as scratch:
        write_evidence(scratch, corpora)
        yield {name: os.path.join(scratch, name) for name in storage.list_folder(scratch)}


def write_evidence(bundle: str | os.PathLike[str], corpora: list[CorpusEvidence]) -> None:
    """Writes the evidence into a bundle; nothing if no step searched for evaluation data.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_evidence(folder, [CorpusEvidence("minilm", ())])
    ...     read_evidence(folder)
    []
    """
    if not any(each.files for each in corpora):
        return
    index = []
    for number, corpus in enumerate(corpora):
        names = [f"{number}/{os.path.basename(path)}" for path in corpus.files]
        for path, name in zip(corpus.files, names, strict=True):
            storage.copy_file(path, os.path.join(bundle, FOLDER, name))
        index.append({"model": corpus.model, "files": names})
    storage.write_json(os.path.join(bundle, FOLDER, _INDEX), index)


class HeldOutSearch:
    """Finds held-out records in the corpora that a model was trained on, and counts them.

    Raises:
        ValueError: if a file is of another format.
        OSError: if a file cannot be read.

    Example: see `tests/corpus/decontamination/evidence_held_out_search_test.py`.
    """

    def __init__(self, corpora: Sequence[CorpusEvidence]) -> None:
        self._corpora = {place: (each.model, each.load()) for place, each in enumerate(corpora)}
        self._counts: Counter[str] = Counter()
        self._found: Counter[tuple[int, str]] = Counter()

    def find(self, texts: Sequence[str], labels: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Returns which records were found in a corpus, and counts them.

        Returns:
            bool [records].
        """
        found = np.zeros(len(texts), bool)
        searched = np.zeros(len(texts), bool)
        joined = [f"{text} {label}" for text, label in zip(texts, labels, strict=True)]
        for place, (_, steps) in self._corpora.items():
            for step in steps:
                known = step.look_up(joined)
                self._found[place, step.step] += int(known.found.sum())
                found |= known.found
                searched |= known.searched
        is_short = np.array([len(comparable_words(text)) for text in texts]) < self._least_words
        self._counts.update(
            records=len(texts),
            found=int(found.sum()),
            too_short=int((is_short & ~found & ~searched).sum()),
            not_searched=int((~is_short & ~found & ~searched).sum()),
        )
        return found

    @property
    def _least_words(self) -> int:
        return min((step.ngram_words for _, steps in self._corpora.values() for step in steps), default=0)

    def report(self) -> dict[str, Any]:
        """Returns the counts as a JSON object."""
        if not self._corpora:
            return {}
        names = ("records", "found", "too_short", "not_searched")
        return {
            **{name: self._counts[name] for name in names},
            "corpora": [
                {"model": model, "steps": [self._step(place, step) for step in steps]}
                for place, (model, steps) in self._corpora.items()
            ],
        }

    def _step(self, place: int, step: Any) -> dict[str, Any]:
        return {
            "step": step.step,
            "action": step.action,
            "ngram_words": step.ngram_words,
            "benchmarks": [each["benchmark"] for each in step.benchmarks],
            "found": self._found[place, step.step],
        }
