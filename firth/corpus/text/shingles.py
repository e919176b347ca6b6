"""Hashes of the word n-grams of many texts at once, as 64-bit numbers computed by NumPy."""

import functools
import itertools
from collections.abc import Sequence

import numpy as np

# Number of bytes that are hashed at a time. Each takes tens of bytes of memory.
BLOCK_BYTES = 2**19
# Odd, so that it has an inverse modulo 2**64.
_BASE = 0x9E3779B97F4A7C15
_STEP = np.uint64(0xD6E8FEB86659FD93)
_SPACE = ord(" ")


def mix(values: np.ndarray) -> np.ndarray:
    """Returns the values scrambled by a bijection in which each output bit depends on all input bits.

    It is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).

    Args:
        values: Any array of uint64.

    Returns:
        uint64 of the same shape.
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def word_hashes(texts: Sequence[Sequence[str]], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Returns a hash of each word, and the index of each text's first word.

    Returns:
        uint64 [words] and int64 [texts + 1]: the words of text i are those from `splits[i]` to `splits[i +

    Example:

    >>> hashes, splits = word_hashes([["a", "b"], [], ["b"]])
    >>> splits.tolist(), bool(hashes[1] == hashes[2])
    ([0, 2, 2, 3], True)
    """
    splits = np.cumsum([0, *map(len, texts)])
    data = " ".join(itertools.chain.from_iterable(texts)).encode("utf-8")
    hashes, start = [np.zeros(0, np.uint64)], 0
    while start < len(data):
        space = data.find(b" ", start + BLOCK_BYTES)
        end = len(data) if space < 0 else space
        hashes.append(_hash_block(np.frombuffer(data, np.uint8, end - start, start), seed))
        start = end + 1
    return np.concatenate(hashes), splits


def _hash_block(data: np.ndarray, seed: int) -> np.ndarray:
    """Returns the hashes of words between single spaces: polynomials of their bytes modulo 2**64, mixed."""
    size = -(-len(data) // BLOCK_BYTES) * BLOCK_BYTES
    base_powers, inverses = powers(_BASE, size)
    sums = np.zeros(len(data) + 1, np.uint64)
    np.cumsum(_byte_values(seed)[data] * base_powers[: len(data)], out=sums[1:])
    ends = np.append(np.flatnonzero(data == _SPACE), len(data))
    starts = np.append(0, ends[:-1] + 1)
    return mix((sums[ends] - sums[starts]) * inverses[starts])


@functools.lru_cache(maxsize=4)
def powers(base: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the powers from 1 to `size` of an odd number modulo 2**64, and those of its inverse."""
    base_powers, inverse_powers = (
        np.cumprod(np.full(size, each, np.uint64)) for each in (base, pow(base, -1, 2**64))
    )
    return base_powers, inverse_powers


@functools.lru_cache(maxsize=8)
def _byte_values(seed: int) -> np.ndarray:
    return mix(np.arange(1, 257, dtype=np.uint64) + np.uint64(seed % 2**32) * np.uint64(2**16))


def shingle_hashes(
    words: np.ndarray, splits: np.ndarray, size: int, short: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Returns a hash of each n-gram of `size` consecutive words of the same text.

    Args:
        words: uint64 [words], the hashes of `word_hashes`.
        splits: int64 [texts + 1], the index of each text's first word, from `word_hashes`.

    Returns:
        uint64 [n-grams] and int64 [texts + 1], the index of each text's first n-gram. The i-th n-gram of a

    Example:

    >>> hashes, splits = shingle_hashes(*word_hashes(["a b c".split(), "b c".split(), ["a"]]), 2)
    >>> splits.tolist(), bool(hashes[1] == hashes[2])
    ([0, 2, 3, 3], True)
    """
    lengths = np.diff(splits)
    counts = np.maximum(lengths - size + 1, np.minimum(lengths, 1) if short else 0)
    runs = np.append(0, np.cumsum(counts))
    places = np.arange(runs[-1]) + np.repeat(splits[:-1] - runs[:-1], counts)
    ends = np.repeat(splits[1:], counts)
    hashes = np.zeros(len(places), np.uint64)
    padded = np.append(words, np.zeros(size, np.uint64))
    for _ in range(size):
        hashes = hashes * _STEP + (np.where(places < ends, padded[places], np.uint64(0)))
        places = places + 1
    return mix(hashes), runs
