"""The interface of finders, each of which detects one type of personal data.

The patterns of finders begin with a class of characters, and check the characters before it only then. Such a
search skips quickly to the next character of the class; a pattern that begins with a look-behind is slow.
"""

import abc
import hashlib
import re
import string
from collections.abc import Iterable, Iterator, Sequence

from firth.recipes.corpus.privacy import PiiStep

Run = tuple[int, int]
# No value on one line has more characters than this between two of its digits.
_GAP = 8
# Repeats are counted, since the search keeps a state for each.
_RUN = re.compile(rf"\d(?:[^\d\n]{{0,{_GAP}}}\d){{0,500}}")
Span = tuple[int, int]
# Letters and digits of scripts with spaces between words. Letters of other scripts may be next to a value.
WORD = r"0-9A-Za-z_\u00c0-\u024f\u0370-\u052f"
_UP_TO_DIGIT = re.compile(r".*[\d\n]", re.DOTALL)
_MIN_CUE_CHARACTERS = 2


def find_runs(text: str) -> list[Run]:
    """Returns the runs of digits in a text as (start, end), in order.

    Digits belong to the same run if there are no more characters between them than between the digits of a
    value.

    Example:

    >>> find_runs("In 1999, call 212-736-5000.")
    [(3, 26)]
    """
    runs: list[Run] = []
    for each in _RUN.finditer(text):
        start, end = each.span()
        if runs and start - runs[-1][1] <= _GAP:
            start = runs.pop()[0]
        runs.append((start, end))
    return runs


def search(
    pattern: re.Pattern[str], text: str, runs: Sequence[Run], length: int, before: int = 0, after: int = 4
) -> Iterator[re.Match[str]]:
    """Yields the matches of `pattern.finditer(text)`, but searches only in and near runs of digits."""
    end = 0
    for start, run_end in runs:
        if run_end - start < length:
            continue
        position = max(end, start - before)
        for match in pattern.finditer(text, position, run_end + after):
            if match.start() >= run_end:
                break
            end = match.end()
            yield match


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


def words_before(text: str, start: int, characters: int) -> str:
    """Returns the text before a place, back to the last digit or line end; empty below two letters.

    Example:

    >>> words_before("in 1999 call me at 212", 19, 40)
    ' call me at '
    """
    first = max(0, start - characters)
    digit = _UP_TO_DIGIT.match(text, first, start)
    words = text[digit.end() if digit else first : start]
    return words if len(words.strip()) >= _MIN_CUE_CHARACTERS else ""
