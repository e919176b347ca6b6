"""Lines of a text, repeated parts, and lengths of words."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from firth.corpus.text.comparable_text import normalize
from firth.segmentation.words import has_unspaced

ELLIPSES = ("...", "…")


def stripped_lines(text: str) -> list[str]:
    r"""Returns the lines that are not blank, without white space at their ends.

    Example:

    >>> stripped_lines("one\n \n two ")
    ['one', 'two']
    """
    return [line for line in map(str.strip, text.split("\n")) if line]


def duplicates(parts: Sequence[str]) -> list[str]:
    """Returns the parts that repeat an earlier one, in no particular order.

    Example:

    >>> duplicates(["a", "b", "a", "a"])
    ['a', 'a']
    """
    counts = Counter(parts)
    return [part for part in counts for _ in range(counts[part] - 1)] if len(counts) < len(parts) else []


def characters(parts: Iterable[str]) -> int:
    """Returns the total number of characters in the parts."""
    return sum(map(len, parts))


def are_too_short(words: Sequence[str], least: float) -> bool:
    """Returns whether words have fewer letters than `least` on average.

    Letters that are written as one, such as syllables of Hangul and vowels with accents, count by their
    parts. Words of scripts without spaces are not measured: a word of Chinese has one or two characters.

    Example:

    >>> are_too_short(["a", "bc"], 3.0), are_too_short(["그", "모든"], 3.0), are_too_short(["他", "很"], 3.0)
    (True, False, False)
    """
    if characters(words) >= least * len(words):
        return False
    measured = _measured(words)
    return characters(normalize("NFD", word) for word in measured) < least * len(measured)


def are_too_long(words: Sequence[str], most: float) -> bool:
    """Returns whether words have more letters than `most` on average.

    Marks on letters, such as the vowels of Indic scripts, do not count. Words of scripts without spaces are
    not measured.

    Example:

    >>> are_too_long(["abcd", "abc"], 3.0), are_too_long(["हिन्दी"], 3.0)
    (True, False)
    """
    if characters(words) <= most * len(words):
        return False
    measured = _measured(words)
    return characters(measured) - sum(map(count_marks, measured)) > most * len(measured)


def count_marks(text: str) -> int:
    """Returns the number of marks on letters: accents, and vowels that are written around a consonant.

    Example:

    >>> count_marks("हिन्दी"), count_marks("word")
    (3, 0)
    """
    if text.isascii():
        return 0
    return sum(count for each, count in Counter(text).items() if unicodedata.category(each)[0] == "M")


def _measured(words: Sequence[str]) -> list[str]:
    """Returns the words of scripts with spaces, or none where most words are of others."""
    spaced = [word for word in words if not has_unspaced(word)]
    return spaced if 2 * len(spaced) >= len(words) else []
