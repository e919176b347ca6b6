"""A sample of bounded size that depends on nothing but what is sampled from."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from firth.corpus.documents.hashing import hash63


class Sample(NamedTuple):
    """What is known of a sample.

    Attributes:
        seen: Documents that it was taken from.
        hashes: Those of the sample, the smallest of all, each once, in order: uint64 [sample].
    """

    seen: int
    hashes: np.ndarray

    def has(self, hashes: np.ndarray) -> np.ndarray:
        """Returns bool [hashes], whether each is among the sample's, given that it was seen."""
        return hashes <= self.hashes[-1] if len(self.hashes) else np.zeros(len(hashes), bool)


def sample_hashes(ids: Iterable[str], seed: int) -> np.ndarray:
    """Returns a hash of each id, by which a sample is taken: uint64 [ids]."""
    return np.array([hash63("sample", str(seed), id) for id in ids], np.uint64)


def sample_of(hashes: np.ndarray, size: int) -> Sample:
    """Returns the sample of the `size` smallest hashes.

    Example:

    >>> sample = join_samples([sample_of(np.array([9, 3, 7], np.uint64), 2), sample_of(np.array([5]), 2)], 2)
    >>> sample.seen, sample.hashes.tolist()
    (4, [3, 5])
    """
    return Sample(len(hashes), np.unique(hashes)[:size])


def join_samples(samples: Iterable[Sample], size: int) -> Sample:
    """Returns the sample of all that the samples were taken from, in any order and grouping."""
    parts = list(samples)
    hashes = np.concatenate([np.zeros(0, np.uint64), *(each.hashes for each in parts)])
    return Sample(sum(each.seen for each in parts), np.unique(hashes)[:size].astype(np.uint64))
