"""The n-grams of evaluation data that were found in a corpus, and the lookup of texts among them."""

import dataclasses
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from firth import storage
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.corpus.text.words import comparable_words
from firth.storage.tensor_files import TensorFile, spec_of, write_tensors

Hashes = npt.NDArray[np.uint64]
# The file `<step>` with this suffix is next to the step's `<step>.json`.
SUFFIX = ".ngrams.safetensors"
_FORMAT = "1"


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
