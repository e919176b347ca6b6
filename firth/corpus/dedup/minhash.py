"""MinHash, which puts documents with similar word n-grams into the same bucket."""

from collections.abc import Sequence

import numpy as np

from firth.corpus.text.shingles import mix, shingle_hashes, word_hashes
from firth.corpus.text.words import comparable_words

# So many hashes and their products fit the cache of a processor core.
_BLOCK = 2**15


class MinHash:
    """Puts documents into buckets: two of Jaccard similarity s share one with probability 1 - (1 - s^h)^b.

    The similarity is that of the documents' sets of word n-grams. Words are those of `comparable_words`; a
    document with fewer words than an n-gram is one n-gram. Each of the b x h permutations multiplies the
    64-bit hashes of the n-grams by an odd number. The smallest product is the document's MinHash for the
    permutation, and h of them together are a bucket (Broder 1997, "On the resemblance and containment of
    documents"; Indyk and Motwani 1998, "Approximate nearest neighbors", section 4).

    Example:

    >>> places, buckets = MinHash().buckets(["It was the best of times.", "it was THE best of times", "..."])
    >>> places.tolist(), bool((buckets[0] == buckets[1]).all())
    ([0, 1], True)
    """

    def __init__(self, ngram_words: int = 5, buckets: int = 14, hashes: int = 8, seed: int = 0) -> None:
        self._ngram_words = ngram_words
        self._shape = (buckets, hashes)
        numbers = np.arange(1, buckets * hashes + 1, dtype=np.uint64) + np.uint64(seed) * np.uint64(2**32)
        self._factors = mix(numbers) | np.uint64(1)

    def buckets(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the buckets of each text that has at least one word.

        Returns:
            int64 [n], the indices of these texts, and uint64 [n, buckets], their buckets.
        """
        return self.buckets_of(*self.shingles(texts))

    def shingles(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the hashes of all n-grams of each text.

        Returns:
            uint64 [n-grams], and int64 [texts + 1], the index of each text's first n-gram.
        """
        words, splits = word_hashes([comparable_words(text) for text in texts])
        return shingle_hashes(words, splits, self._ngram_words, short=True)

    def buckets_of(self, shingles: np.ndarray, splits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the buckets of each text that has at least one n-gram, as `buckets` does."""
        places = np.flatnonzero(np.diff(splits))
        smallest = self._smallest(shingles, splits[:-1][places])
        return places, self._join(smallest)

    def _smallest(self, shingles: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Returns uint64 [documents, permutations], a document's smallest product."""
        smallest = np.empty((len(self._factors), len(starts)), np.uint64)
        ends = np.append(starts[1:], len(shingles))
        first = 0
        while first < len(starts):
            last = max(first + 1, int(np.searchsorted(ends, starts[first] + _BLOCK, "right")))
            block = shingles[starts[first] : ends[last - 1]]
            offsets = starts[first:last] - starts[first]
            product = np.empty_like(block)
            for row, factor in zip(smallest, self._factors):
                np.multiply(block, factor, out=product)
                np.minimum.reduceat(product, offsets, out=row[first:last])
            first = last
        return smallest.T

    def _join(self, smallest: np.ndarray) -> np.ndarray:
        buckets, hashes = self._shape
        parts = smallest.reshape(-1, buckets, hashes)
        joined = np.broadcast_to(np.arange(buckets, dtype=np.uint64), parts.shape[:2])
        for i in range(hashes):
            joined = mix(joined * np.uint64(0x9FB21C651E98DF25) + parts[:, :, i])
        return joined
