"""MinHash: documents of similar word n-grams fall into one bucket."""

from collections.abc import Sequence

import numpy as np

from firth.corpus.text.shingles import mix, shingle_hashes, word_hashes
from firth.corpus.text.words import comparable_words

# So many hashes, and their products, stay in a core's cache.
_BLOCK = 2**15


class MinHash:
    """Hashes documents into buckets, so that those of Jaccard similarity s meet with P = 1 - (1 - s^h)^b.

    The similarity is that of their sets of word n-grams (`comparable_words`; a document of fewer words is one
    n-gram). Each of the b x h permutations multiplies the n-grams' 64-bit hashes by an odd number; a
    document's smallest product is its hash, and h of them make a bucket (Broder 1997; locality-sensitive
    hashing of them: Indyk and Motwani 1998, section 4).

    Args:
        ngram_words: Of an n-gram.
        buckets: b, of a document.
        hashes: h, of a bucket.
        seed: Another seed gives other permutations.

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
        """Returns the buckets of those texts that have a word.

        Returns:
            int64 [n], the texts' places, and uint64 [n, buckets], equal where two texts meet.
        """
        words, splits = word_hashes([comparable_words(text) for text in texts])
        shingles, splits = shingle_hashes(words, splits, self._ngram_words, short=True)
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
