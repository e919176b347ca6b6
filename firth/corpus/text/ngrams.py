"""Word n-grams that occur more than once in a text."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np


class Repeats(NamedTuple):
    """The n-grams of one length that occur more than once in a text.

    Attributes:
        n: Number of words in each n-gram.
        starts: int64 [occurrences]; the index of each occurrence's first word. Occurrences of the same n-gram
            are next to each other.
        groups: int64 [different n-grams]; the index in `starts` of each n-gram's first entry.
        counts: int64 [different n-grams]; the number of occurrences of each n-gram.
    """

    n: int
    starts: np.ndarray
    groups: np.ndarray
    counts: np.ndarray

    @property
    def later(self) -> np.ndarray:
        """The entries of `starts` without the first occurrence of each n-gram: int64 [later occurrences]."""
        firsts = np.minimum.reduceat(self.starts, self.groups)
        return self.starts[self.starts != np.repeat(firsts, self.counts)]


def repeated_ngrams(words: Sequence[str]) -> Iterator[Repeats]:
    """Yields the repeated n-grams of n = 2, 3, ..., until no n-gram of that length is repeated.

    Example:

    >>> for repeats in repeated_ngrams("to be or not to be".split()):
    ...     print(repeats.n, sorted(repeats.starts.tolist()), repeats.later.tolist())
    2 [0, 4] [4]
    """
    # The number of a word is the index of its first occurrence. map() with a counter makes no Python calls.
    first: dict[str, int] = {}
    numbers = np.fromiter(map(first.setdefault, words, itertools.count()), np.int64, len(words))
    if len(first) == len(words):
        return
    is_repeated = np.bincount(numbers)[numbers] > 1
    starts = (is_repeated[:-1] & is_repeated[1:]).nonzero()[0]
    keys = numbers[starts] * len(words) + numbers[starts + 1]
    for n in itertools.count(2):
        if not len(keys):
            return
        order = np.argsort(keys)
        ordered, starts = keys[order], starts[order]
        as_before = np.concatenate(([False], ordered[1:] == ordered[:-1], [False]))
        repeated = as_before[:-1] | as_before[1:]
        starts = starts[repeated]
        if not len(starts):
            return
        opens = ~as_before[:-1][repeated]
        names = opens.cumsum()
        yield Repeats(n, starts, opens.nonzero()[0], np.bincount(names)[1:])
        # An n-gram can repeat only if the n-gram without its last word and that word repeat.
        goes_on = starts + n < len(words)
        goes_on[goes_on] = is_repeated[starts[goes_on] + n]
        starts, names = starts[goes_on], names[goes_on]
        keys = names * len(words) + numbers[starts + n]
