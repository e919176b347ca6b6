"""Evidence of contamination that a model carries: the evaluation data found in each corpus it was trained on.

A bundle has it in its folder `contamination`. Runs that continue from the bundle and the scores of its tasks
read it there.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from firth import storage
from firth.corpus.contamination.found_ngrams import SUFFIX, FoundNgrams, load_found

FOLDER = "contamination"
_INDEX = "corpora.json"


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
