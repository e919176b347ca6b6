"""Samples of bounded size that are the same on any number of workers."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from firth.corpus.documents.hashing import hash63


class HashSample(NamedTuple):
    """A sample of documents, as the range of their hashes.

    Attributes:
        seen: Number of documents from which the sample was taken.
        hashes: uint64 [sample], the smallest hashes of all documents, ascending, each once.
    """

    seen: int
    hashes: np.ndarray

    def has(self, hashes: np.ndarray) -> np.ndarray:
        """Returns whether documents belong to the sample.

        Args:
            hashes: uint64 [documents], the hashes of documents from which the sample was taken.

        Returns:
            bool [documents].
        """
        return hashes <= self.hashes[-1] if len(self.hashes) else np.zeros(len(hashes), bool)


def sample_hashes(ids: Iterable[str], seed: int) -> np.ndarray:
    """Returns the hashes of ids by which a sample is taken: uint64 [ids]."""
    return np.array([hash63("sample", str(seed), id) for id in ids], np.uint64)


def sample_of(hashes: np.ndarray, size: int) -> HashSample:
    """Returns the sample of the documents with the smallest hashes.

    Args:
        hashes: uint64 [documents], from `sample_hashes`.

    Example:

    >>> sample = join_samples([sample_of(np.array([9, 3, 7], np.uint64), 2), sample_of(np.array([5]), 2)], 2)
    >>> sample.seen, sample.hashes.tolist()
    (4, [3, 5])
    """
    return HashSample(len(hashes), np.unique(hashes)[:size])


def join_samples(samples: Iterable[HashSample], size: int) -> HashSample:
    """Returns the sample of all documents from which the samples were taken, in any order and grouping."""
    parts = list(samples)
    hashes = np.concatenate([np.zeros(0, np.uint64), *(each.hashes for each in parts)])
    return HashSample(sum(each.seen for each in parts), np.unique(hashes)[:size].astype(np.uint64))
