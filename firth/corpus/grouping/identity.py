"""Columns of numbers that identify documents and order them by which of several is kept."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from firth.corpus.documents.document import Document
from firth.corpus.text.shingles import mix

# Bits of the length and of the source's rank in the order of a document.
_LENGTH_BITS, _RANK_BITS = 44, 20
_MASK = 2**64 - 1


def id_halves(documents: Iterable[Document]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the documents' ids as two columns, uint64 [documents] each, ordered as the ids are."""
    ids = [int(document.id, 16) for document in documents]
    return np.array([each >> 64 for each in ids], np.uint64), np.array(
        [each & _MASK for each in ids], np.uint64
    )


def id_of(high: int | np.integer, low: int | np.integer) -> str:
    """Returns the id that has two halves.

    Example:

    >>> id_of(1, 10)
    '0000000000000001000000000000000a'
    """
    return f"{int(high):016x}{int(low):016x}"


def nodes_of(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Returns 64 bits for each id: uint64 [documents].

    Two of n documents have the same with a probability of n^2 / 2^65.

    Args:
        high: uint64 [documents], the upper 64 bits of the ids.
        low: uint64 [documents], the lower 64 bits of the ids.
    """
    return mix(high ^ mix(low))


def source_ranks(priority: Sequence[str], sources: Sequence[str]) -> dict[str, int]:
    """Returns the rank of each source by its name; the smallest rank is the most preferred source.

    Example:

    >>> source_ranks(["books"], ["web", "books"])
    {'books': 0, 'web': 1}
    """
    return {name: rank for rank, name in enumerate(dict.fromkeys([*priority, *sources]))}


def longest_first(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    """Returns an order by which the longest document is kept, and of these that of the most preferred source.

    Returns:
        uint64 [documents], smaller for documents that are kept rather than others.
    """
    lengths = np.array([len(document.text) for document in documents], np.uint64)
    return ((np.uint64(2**_LENGTH_BITS - 1) - lengths) << np.uint64(_RANK_BITS)) | source_first(
        documents, ranks
    )


def source_first(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    """Returns an order by which the documents of the most preferred source are kept.

    Returns:
        uint64 [documents], smaller for documents that are kept rather than others.
    """
    # A source that the recipe does not name comes last.
    return np.array([ranks.get(document.source, len(ranks)) for document in documents], np.uint64)
