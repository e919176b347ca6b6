"""The two splits of a corpus, train and eval, and the hash that assigns a text to one of them."""

from collections.abc import Iterable
from typing import NamedTuple

from firth.corpus.documents.hashing import unit_hash

TRAIN = "train"
"""Name of the split to train on."""
EVAL = "eval"
"""Name of the held-out split."""
SPLITS = (TRAIN, EVAL)
"""Names of all splits."""


class HashRange(NamedTuple):
    """The smallest and the largest hash of a corpus's texts. The default is the range of an empty corpus.

    Attributes:
        smallest: The smallest hash, in [0, 1).
        largest: The largest hash, in [0, 1), or 1 for an empty corpus.
    """

    smallest: float = 0.0
    largest: float = 1.0


def split_hash(text: str) -> float:
    """Returns the hash that decides a text's split, in [0, 1)."""
    return unit_hash("split", text)


def hash_range(texts: Iterable[str]) -> HashRange:
    """Returns the smallest and the largest hash of the texts."""
    hashes = [split_hash(text) for text in texts]
    return HashRange(min(hashes), max(hashes)) if hashes else HashRange()


def join_ranges(ranges: Iterable[HashRange]) -> HashRange:
    """Returns the range that spans the given ranges, in whatever order and grouping they are joined."""
    # A batch that lost all its texts does not widen the range.
    known = [each for each in ranges if each != HashRange()]
    if not known:
        return HashRange()
    return HashRange(min(item.smallest for item in known), max(item.largest for item in known))


def split_of(text: str, eval_fraction: float, whole: HashRange) -> str:
    """Returns the split of a text, by its hash, so that equal texts are always in the same split.

    The text with the smallest hash is always in eval and the one with the largest hash always in train. A
    corpus of only two different texts therefore has both splits.

    Example:

    >>> texts = ["Call me Ishmael.", "It was the best of times."]
    >>> [split_of(text, 0.01, hash_range(texts)) for text in texts]
    ['eval', 'train']
    """
    value = split_hash(text)
    if value == whole.largest:
        return TRAIN
    return EVAL if value == whole.smallest or value < eval_fraction else TRAIN
