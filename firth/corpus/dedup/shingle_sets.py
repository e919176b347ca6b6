"""The word n-grams of documents as sets of numbers, and how much of them two documents share."""

import dataclasses

import numpy as np

# A share for the set itself, next to its numbers.
_SET_BYTES = 2**7


@dataclasses.dataclass(frozen=True, eq=False)
class ShingleSet:
    """The word n-grams of a document.

    Attributes:
        node: The number of the document in the graph of pairs.
        hashes: uint64 [n-grams], ascending, each once.
    """

    node: int
    hashes: np.ndarray

    @property
    def held_bytes(self) -> int:
        """An estimate of the memory that the set takes, in bytes."""
        return self.hashes.nbytes + _SET_BYTES


def shingle_sets(nodes: np.ndarray, shingles: np.ndarray, splits: np.ndarray) -> list[ShingleSet]:
    """Returns the sets of some documents, without those that have no n-gram.

    Args:
        nodes: uint64 [documents], the numbers of the documents.
        shingles: uint64 [n-grams], the hashes of all their n-grams.
        splits: int64 [documents + 1], the index of each document's first n-gram.
    """
    return [
        ShingleSet(node, np.unique(shingles[start:end]))
        for node, start, end in zip(nodes.tolist(), splits[:-1].tolist(), splits[1:].tolist())
        if end > start
    ]


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    """Returns the size of the intersection of two sets, divided by that of their union.

    Example:

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4, 5]))
    0.4
    """
    small, large = sorted((one, other), key=len)
    places = np.minimum(np.searchsorted(large, small), len(large) - 1)
    shared = int((large[places] == small).sum())
    return shared / (len(one) + len(other) - shared)
