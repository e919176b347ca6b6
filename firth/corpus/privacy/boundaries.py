"""Boundaries of values in text, and the words before a value."""

import re

# Letters and digits of scripts with spaces between words. Letters of other scripts may be next to a value.
WORD = r"0-9A-Za-z_\u00c0-\u024f\u0370-\u052f"
_UP_TO_DIGIT = re.compile(r".*[\d\n]", re.DOTALL)
_MIN_CUE_CHARACTERS = 2


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
