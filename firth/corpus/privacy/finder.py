"""The interface of finders, each of which detects one type of personal data.

The patterns of finders begin with a class of characters, and check the characters before it only then. Such a
search skips quickly to the next character of the class; a pattern that begins with a look-behind is slow.
"""

import abc
import hashlib
import string
from collections.abc import Iterable, Iterator, Sequence

from firth.corpus.privacy.digit_runs import Run
from firth.recipes.corpus.privacy import PiiStep

Span = tuple[int, int]


def without_overlaps(spans: Iterable[Span]) -> Iterator[Span]:
    """Yields the spans that begin at or after the end of the one before.

    Example:

    >>> list(without_overlaps([(0, 3), (2, 5), (3, 4)]))
    [(0, 3), (3, 4)]
    """
    end = 0
    for span in spans:
        if span[0] >= end:
            yield span
            end = span[1]


class Finder(abc.ABC):
    """Finds the values of one type of personal data."""

    def __init__(self, config: PiiStep) -> None:
        self._config = config

    @abc.abstractmethod
    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:
        """Yields the spans of the values in a text as (start, end), in order."""

    def accepts(self, value: str) -> bool:
        """Returns whether a string is a valid value, as if the words around it announced one."""
        return any(self.find(value, ()))

    def reshape(self, value: str, key: bytes) -> str:
        """Returns another string of the same shape, chosen by the key. It may be a valid value by chance."""
        return reshape(value, key)


def reshape(value: str, key: bytes) -> str:
    """Returns the string with each digit replaced by a digit and each letter by a letter, chosen by the key.

    Example:

    >>> reshape("Ab-12", b"key")
    'Cv-84'
    """
    drawn = hashlib.shake_256(key).digest(2 * len(value))
    numbers = (high << 8 | low for high, low in zip(drawn[::2], drawn[1::2]))
    return "".join(_like(character, number) for character, number in zip(value, numbers))


def _like(character: str, number: int) -> str:
    if character.isdigit():
        return string.digits[number % 10]
    if character.isalpha():
        alphabet = string.ascii_uppercase if character.isupper() else string.ascii_lowercase
        return alphabet[number % 26]
    return character
