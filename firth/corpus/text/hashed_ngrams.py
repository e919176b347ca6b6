"""Texts as counts of hashed word n-grams."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from firth.corpus.text.shingles import shingle_hashes, word_hashes


class Hashing(NamedTuple):
    """How texts become counts.

    Attributes:
        ngram_words: Lengths of the n-grams.
        buckets: Into which they are hashed.
        max_characters: Of a longer text the beginning is read.
    """

    ngram_words: tuple[int, ...]
    buckets: int
    max_characters: int


class Vectors(NamedTuple):
    """One sparse vector a text, of length 1, or 0 where a text has no n-gram.

    Attributes:
        splits: Where each text's entries begin: int64 [texts + 1].
        buckets: uint32 [entries], each bucket once a text, in order.
        values: float32 [entries].
    """

    splits: np.ndarray
    buckets: np.ndarray
    values: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The text of each entry: int64 [entries]."""
        return np.repeat(np.arange(len(self.splits) - 1), np.diff(self.splits))


def hash_ngrams(texts: Sequence[str], hashing: Hashing) -> Vectors:
    """Returns the texts as vectors: how often each bucket's n-grams occur, over the vector's length.

    Words are those of Spark's standard tokenizer, which GPT-3's classifier read (Brown et al. 2020,
    arXiv:2005.14165, appendix A): in lowercase, between spaces, with their punctuation.

    Example:

    >>> vectors = hash_ngrams(["a b a", "", "b"], Hashing((1,), 2**18, 100))
    >>> vectors.splits.tolist(), sorted(round(value, 2) for value in vectors.values.tolist())
    ([0, 2, 2, 3], [0.45, 0.89, 1.0])
    """
    words, splits = word_hashes([text[: hashing.max_characters].lower().split() for text in texts])
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
    """Returns the vectors of all parts, one part after the other."""
    ends = np.cumsum([0, *(each.splits[-1] for each in parts)])
    splits = [each.splits[1:] + end for each, end in zip(parts, ends)]
    return Vectors(
        np.concatenate([np.zeros(1, np.int64), *splits]),
        np.concatenate([np.zeros(0, np.uint32), *(each.buckets for each in parts)]),
        np.concatenate([np.zeros(0, np.float32), *(each.values for each in parts)]),
    )
