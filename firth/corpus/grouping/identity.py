"""Documents as rows of numbers: which one it is, and which of several is to survive."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from firth.corpus.documents.document import Document
from firth.corpus.text.shingles import mix

# Of a document's order: the bits of its length, and those of its source's rank.
_LENGTH_BITS, _RANK_BITS = 44, 20
_MASK = 2**64 - 1


def id_halves(documents: Iterable[Document]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the documents' ids as two columns of uint64, ordered as the ids are."""
    ids = [int(document.id, 16) for document in documents]
    return np.array([each >> 64 for each in ids], np.uint64), np.array(
        [each & _MASK for each in ids], np.uint64
    )


def nodes_of(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Returns 64 bits for each id; among n documents, two have the same with probability n^2 / 2^65."""
    return mix(high ^ mix(low))


def source_ranks(priority: Sequence[str], sources: Sequence[str]) -> dict[str, int]:
    """Returns the rank of sources by name, the one that wins first.

    Args:
        priority: The first of them.
        sources: All, in the order of the recipe.

    Example:

    >>> source_ranks(["books"], ["web", "books"])
    {'books': 0, 'web': 1}
    """
    return {name: rank for rank, name in enumerate(dict.fromkeys([*priority, *sources]))}


def longest_first(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    """Returns uint64 [documents], smaller for what survives: the longest, then of the first source."""
    lengths = np.array([len(document.text) for document in documents], np.uint64)
    return ((np.uint64(2**_LENGTH_BITS - 1) - lengths) << np.uint64(_RANK_BITS)) | _ranks(documents, ranks)


def source_first(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    """Returns uint64 [documents], smaller for what survives: of the first source."""
    return _ranks(documents, ranks)


def _ranks(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    # A source that nobody named comes last.
    return np.array([ranks.get(document.source, len(ranks)) for document in documents], np.uint64)
