"""What a type of personal data is to the step `pii`.

The finders' patterns begin with a class of characters, and only then look at what stands before: a search is
quick to skip to the next character of a class, and slow where it has to look behind first.
"""

import abc
import hashlib
import string
from collections.abc import Iterator, Sequence

from firth.corpus.privacy.digit_runs import Run

Span = tuple[int, int]


class Finder(abc.ABC):
    """Finds the values of one type."""

    @abc.abstractmethod
    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:
        """Yields where values stand, from the left, in a text and its runs of digits."""

    @abc.abstractmethod
    def accepts(self, value: str) -> bool:
        """Returns whether a text is a valid value if the words around it said that it is one."""

    def reshape(self, value: str, key: bytes) -> str:
        """Returns another text of the same shape, as the key has it. It may happen to be a valid value."""
        return reshape(value, key)


def reshape(value: str, key: bytes) -> str:
    """Returns a text with other digits and letters in the place of each digit and letter.

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
