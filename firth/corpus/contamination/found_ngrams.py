"""The n-grams of evaluation data that a corpus was found to hold, and texts that are looked up among them."""

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
# Of a step's file: `<step>` and this, next to its `<step>.json`.
SUFFIX = ".ngrams.safetensors"
_FORMAT = "1"


class LookedUp(NamedTuple):
    """What is known of some texts.

    Attributes:
        found: bool [texts], whether the corpus was found to hold an n-gram of the text.
        searched: bool [texts], whether the text, or a part of it, is among the examples that were looked for.
    """

    found: npt.NDArray[np.bool_]
    searched: npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class FoundNgrams:
    """What a step that looks for evaluation data in a corpus found, without the texts themselves.

    N-grams stand as 64-bit hashes, no two of the evaluation data with the same, so that a record of these
    data is found by its texts alone, whatever its id, its file, and the columns that it was read from.

    Attributes:
        step: Name of the step.
        action: What it did to the documents that it found, as the recipe says it.
        ngram_words: Number of words in an n-gram, as `comparable_words` returns them.
        benchmarks: Counts by benchmark: `benchmark`, its name, `examples` and `examples_found`.
        seed: Number that the hash function depends on.
        found: uint64 [n], hashes of the n-grams that the corpus was found to hold, ascending.
        ends: uint64 [n], hashes of the first and the last n-gram of each example, ascending.
    """

    step: str
    action: str
    ngram_words: int
    benchmarks: Sequence[dict[str, Any]]
    seed: int
    found: Hashes
    ends: Hashes

    def look_up(self, texts: Sequence[str]) -> LookedUp:
        """Returns which texts the corpus was found to hold, and which were looked for.

        Example:

        >>> hashes, _ = shingle_hashes(*word_hashes([["call", "me"], ["me", "ishmael"], ["a", "whale"]]), 2)
        >>> known = FoundNgrams("step", "keep", 2, (), 0, hashes[:1], np.sort(hashes[:2]))
        >>> known.look_up(["Call me ...", "me, Ishmael", "a whale"])
        LookedUp(found=array([ True, False, False]), searched=array([ True,  True, False]))
        """
        words = [comparable_words(text) for text in texts]
        hashes, runs = shingle_hashes(*word_hashes(words, self.seed), self.ngram_words)
        owners = np.repeat(np.arange(len(texts)), np.diff(runs))
        return LookedUp(
            *(_any(np.isin(hashes, known), owners, len(texts)) for known in (self.found, self.ends))
        )

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes `<step>.ngrams.safetensors`."""
        arrays = {"found": self.found, "ends": self.ends}
        said = {
            "format": _FORMAT,
            "step": self.step,
            "action": self.action,
            "ngram_words": str(self.ngram_words),
            "benchmarks": json.dumps(list(self.benchmarks)),
            "seed": str(self.seed),
        }
        with storage.scratch_folder() as scratch:
            path = os.path.join(scratch, "file")
            write_tensors(path, {name: spec_of(each) for name, each in arrays.items()}, arrays.items(), said)
            storage.copy_file(path, os.path.join(folder, self.step + SUFFIX))


def load_found(path: str | os.PathLike[str]) -> FoundNgrams:
    """Returns what a step found.

    Raises:
        OSError: if it cannot be read.
    """
    with storage.local_copy(path) as local:
        file = TensorFile(local)
        said = file.metadata
        if said.get("format") != _FORMAT:
            raise ValueError(f"{os.fspath(path)} is not of format {_FORMAT}; it says {said}")
        return FoundNgrams(
            step=said["step"],
            action=said["action"],
            ngram_words=int(said["ngram_words"]),
            benchmarks=json.loads(said["benchmarks"]),
            seed=int(said["seed"]),
            found=file["found"],
            ends=file["ends"],
        )


def _any(hits: npt.NDArray[np.bool_], owners: npt.NDArray[np.int64], texts: int) -> npt.NDArray[np.bool_]:
    return np.bincount(owners[hits], minlength=texts) > 0
