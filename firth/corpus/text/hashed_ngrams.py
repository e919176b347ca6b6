"""Counts of hashed word n-grams, which represent a text as a sparse vector."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.segmentation.words import split_words


class Hashing(NamedTuple):
    """Settings for turning texts into counts.

    Attributes:
        ngram_words: Lengths of the n-grams, in words.
        buckets: Number of buckets into which n-grams are hashed.
        max_characters: Number of characters that are read of each text, from its beginning.
    """

    ngram_words: tuple[int, ...]
    buckets: int
    max_characters: int


class Vectors(NamedTuple):
    """One sparse vector for each text, of Euclidean length 1, or 0 for a text without n-grams.

    Attributes:
        splits: int64 [texts + 1]; the entries of text i are those from `splits[i]` to `splits[i + 1]`.
        buckets: uint32 [entries], ascending within each text, each bucket once.
        values: float32 [entries].
    """

    splits: np.ndarray
    buckets: np.ndarray
    values: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The index of the text to which each entry belongs: int64 [entries]."""
        return np.repeat(np.arange(len(self.splits) - 1), np.diff(self.splits))


def hash_ngrams(texts: Sequence[str], hashing: Hashing) -> Vectors:
    """Returns the texts as vectors of the counts in each bucket, divided by the vector's Euclidean length.

    Words are those of Spark's standard tokenizer, on which GPT-3's quality classifier was trained (Brown et
    al. 2020, arXiv:2005.14165, appendix A): in lower case, separated by white space, with their punctuation.
    In scripts without spaces they are those of `split_words`.

    Example:

    >>> vectors = hash_ngrams(["a b a", "", "b"], Hashing((1,), 2**18, 100))
    >>> vectors.splits.tolist(), sorted(round(value, 2) for value in vectors.values.tolist())
    ([0, 2, 2, 3], [0.45, 0.89, 1.0])
    """
    words, splits = word_hashes([split_words(text[: hashing.max_characters].lower()) for text in texts])
    keys = np.concatenate([_keys(words, splits, size, hashing.buckets) for size in hashing.ngram_words])
    keys, counts = np.unique(keys, return_counts=True)
    rows, buckets = keys // hashing.buckets, keys % hashing.buckets
    squares = np.bincount(rows, np.square(counts, dtype=np.float64), len(texts))
    values = (counts / np.sqrt(squares)[rows]).astype(np.float32)
    return Vectors(np.searchsorted(rows, np.arange(len(texts) + 1)), buckets.astype(np.uint32), values)


def _keys(words: np.ndarray, splits: np.ndarray, size: int, buckets: int) -> np.ndarray:
    """Returns int64 [n-grams]: text and bucket as one number."""
    hashes, runs = shingle_hashes(words, splits, size)
    texts = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
    return texts * buckets + (hashes % np.uint64(buckets)).astype(np.int64)


def join_vectors(parts: Sequence[Vectors]) -> Vectors:
    """Returns the vectors of all parts in one, in the order of the parts."""
    ends = np.cumsum([0, *(each.splits[-1] for each in parts)])
    splits = [each.splits[1:] + end for each, end in zip(parts, ends)]
    return Vectors(
        np.concatenate([np.zeros(1, np.int64), *splits]),
        np.concatenate([np.zeros(0, np.uint32), *(each.buckets for each in parts)]),
        np.concatenate([np.zeros(0, np.float32), *(each.values for each in parts)]),
    )
