"""Train and eval."""

from collections.abc import Iterable
from typing import NamedTuple

from firth.corpus.documents.hashing import unit_hash

TRAIN, EVAL = "train", "eval"
SPLITS = (TRAIN, EVAL)


class HashRange(NamedTuple):
    """The smallest and the largest hash of a corpus's texts; where there is none, of any text."""

    smallest: float = 0.0
    largest: float = 1.0


def hash_of(text: str) -> float:
    """Returns what decides a text's split, in [0, 1)."""
    return unit_hash("split", text)


def hash_range(texts: Iterable[str]) -> HashRange:
    """Returns the range of the texts' hashes."""
    hashes = [hash_of(text) for text in texts]
    return HashRange(min(hashes), max(hashes)) if hashes else HashRange()


def join_ranges(ranges: Iterable[HashRange]) -> HashRange:
    """Returns the range that spans all given, in any order and grouping."""
    # A batch that lost all its texts does not widen the range.
    known = [each for each in ranges if each != HashRange()]
    if not known:
        return HashRange()
    return HashRange(min(item.smallest for item in known), max(item.largest for item in known))


def split_of(text: str, eval_fraction: float, whole: HashRange) -> str:
    """Returns the split of a text: by its hash, so that the same text is never in both.

    However few texts there are, the one of the smallest hash is for eval and the one of the largest for
    train, so that a corpus of two different texts already has both.

    Args:
        text: Cleaned.
        eval_fraction: Of all texts, about this share is for eval.
        whole: The range of all texts' hashes.

    Example:

    >>> texts = ["Call me Ishmael.", "It was the best of times."]
    >>> [split_of(text, 0.01, hash_range(texts)) for text in texts]
    ['eval', 'train']
    """
    value = hash_of(text)
    if value == whole.largest:
        return TRAIN
    return EVAL if value == whole.smallest or value < eval_fraction else TRAIN
