"""Texts of two kinds that a classifier tells apart."""

import random

import numpy as np

from firth.corpus.quality.quality_model import Examples, Hashing, hash_ngrams

HASHING = Hashing((1, 2), 2**18, 1000)
GOOD = ["the", "captain", "saw", "a", "white", "whale", "rise", "out", "of", "the", "deep", "calm", "sea"]
BAD = ["click", "here", "buy", "cheap", "now", "free", "login", "cart", "offer", "win", "prize", "the", "a"]


def text(words, number, count=30):
    return " ".join(random.Random(f"{words[0]} {number}").choices(words, k=count))


def examples(count=60, bad=BAD) -> Examples:
    texts = [text(bad, n) for n in range(count)] + [text(GOOD, n) for n in range(count, 2 * count)]
    hashes = np.random.default_rng(0).permutation(2 * count).astype(np.uint64)
    return Examples(hashes, np.repeat([0, 1], count).astype(np.int8), hash_ngrams(texts, HASHING))
