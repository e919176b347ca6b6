"""Hashes of all windows of a sequence, and the choice of some of them by content."""

import functools

import numpy as np

from firth.corpus.text.shingles import mix

# Odd, so that it has an inverse modulo 2**64.
_BASE = 0xC2B2AE3D27D4EB4F
_ROUND = 2**16


def rolling_hashes(units: np.ndarray, size: int) -> np.ndarray:
    """Returns a hash of each window of `size` consecutive units, in time that does not depend on the size.

    Args:
        units: uint64 [units], a hash of each unit.

    Returns:
        uint64 [units - size + 1], or of none if there are fewer units than a window has.

    Example:

    >>> hashes = rolling_hashes(np.array([3, 5, 8, 3, 5], np.uint64), 2)
    >>> len(hashes), bool(hashes[0] == hashes[3]), bool(hashes[0] == hashes[1])
    (4, True, False)
    """
    count = len(units) - size + 1
    if count < 1:
        return np.zeros(0, np.uint64)
    powers, inverses = _powers(-(-len(units) // _ROUND) * _ROUND)
    sums = np.zeros(len(units) + 1, np.uint64)
    np.cumsum(units * powers[: len(units)], out=sums[1:])
    return mix((sums[size:] - sums[:-size]) * inverses[:count])


@functools.lru_cache(maxsize=2)
def _powers(size: int) -> tuple[np.ndarray, np.ndarray]:
    inverse = pow(_BASE, -1, 2**64)
    powers, inverses = (np.cumprod(np.full(size, base, np.uint64)) for base in (_BASE, inverse))
    return powers, inverses


def winnow(hashes: np.ndarray, window: int) -> np.ndarray:
    """Returns the places of the smallest of each `window` consecutive hashes, the first of equal ones.

    What is chosen within a window depends on its hashes alone, so that windows of the same content have the
    same hash chosen (Schleimer, Wilkerson and Aiken 2003, "Winnowing", section 3). About 2 / (window + 1) of
    the hashes are chosen.

    Args:
        hashes: uint64 [n].

    Returns:
        int64 [chosen], ascending; none if there are fewer hashes than `window`.

    Example:

    >>> winnow(np.array([7, 4, 9, 8, 2], np.uint64), 3).tolist()
    [1, 4]
    """
    if len(hashes) < window:
        return np.zeros(0, np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(hashes, window)
    return np.unique(windows.argmin(axis=1) + np.arange(len(windows)))
