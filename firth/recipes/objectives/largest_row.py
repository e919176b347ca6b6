"""The largest size that the documents of one row can have, however rows are packed."""

from collections.abc import Callable
from typing import Any

import numpy as np

_NOTHING = -(10**9)


def largest_row(
    size_of: Callable[[int], int], raw_length: int, special_tokens: int, max_documents: int
) -> int:
    """Returns the largest sum of sizes that the documents of a row can have, however rows are packed.

    A row holds 1 to `max_documents` documents. Their tokens, with `special_tokens` for each, are at most
    `raw_length + special_tokens` together. All such rows are considered, not only those that a packer makes.

    Example: documents of 1, 2 and 3 tokens come to 2, 2 and 3; the row holds 4 places, each document 1 more
    than its tokens. Two documents of one token make the most.

    >>> largest_row([0, 2, 2, 3].__getitem__, raw_length=3, special_tokens=1, max_documents=2)
    4
    """
    capacity = raw_length + special_tokens
    one = np.full(capacity + 1, _NOTHING, np.int64)
    for tokens in range(1, raw_length + 1):
        one[tokens + special_tokens] = size_of(tokens)
    one = np.maximum(np.maximum.accumulate(one), 0)
    # Doubling: the best of up to a documents and of up to b documents give the best of up to a + b documents.
    most, power, left = np.zeros_like(one), one, min(max_documents, capacity)
    while left:
        most = _together(most, power) if left % 2 else most
        left //= 2
        power = _together(power, power) if left else power
    return int(most[-1])


def _together(first: "np.ndarray[Any, Any]", second: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Returns max over a + b = c of first[a] + second[b], for each c: int64 [capacity + 1]."""
    return np.array([np.max(first[: c + 1] + second[c::-1]) for c in range(len(first))], np.int64)
