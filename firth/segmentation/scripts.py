"""Sets of characters by script, and quick tests of whether a text has any of them."""

import functools
import re

import icu

# Scripts without spaces that ICU has no rules for, such as Javanese, Tai Tham and Yi.
_SYLLABIC = (
    "[[[:Line_Break=Complex_Context:][:Line_Break=Aksara:][:Line_Break=Aksara_Start:]]"
    "-[[:Thai:][:Lao:][:Khmer:][:Myanmar:]]]"
)
# Scripts that ICU divides by dictionaries, by syllables (Tibetan) or by a sign between words (Ethiopic). Two
# signs of kana have no script of their own; radicals are not text.
_UNSPACED = (
    f"[{_SYLLABIC}[:Yi:][[[:Thai:][:Lao:][:Khmer:][:Myanmar:][:Tibetan:][:Han:][:Hiragana:][:Katakana:]"
    "\u30fc\uff70\u1361]-[\u2e80-\u2fff]]]"
)


class CharacterSet:
    r"""A set of characters.

    Attributes:
        pattern: The set in ICU's notation.
        inside: The characters as the inside of a class of a regular expression.

    Example:

    >>> CharacterSet("[a-cx]").inside, CharacterSet("[:Greek:]").occurs_in("naïve “words”")
    ('a-cx-x', False)
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        found = icu.UnicodeSet(pattern)
        places = range(found.getRangeCount())
        ranges = [(found.getRangeStart(place), found.getRangeEnd(place)) for place in places]
        self.inside = "".join(f"{re.escape(first)}-{re.escape(last)}" for first, last in ranges)
        self._any = re.compile(f"[{self.inside}]")
        # No two characters that are 64 apart skip a first byte of UTF-8.
        codes = (code for first, last in ranges for code in (*range(ord(first), ord(last), 64), ord(last)))
        self._other_bytes = bytes({*range(256)} - {chr(code).encode()[0] for code in codes})

    def occurs_in(self, text: str) -> bool:
        """Returns whether a text has a character of the set."""
        # Deleting bytes is several times as fast as a search through each character.
        rest = text.encode("utf-8", "surrogatepass").translate(None, self._other_bytes)
        return bool(rest) and self._any.search(text) is not None


@functools.cache
def unspaced_characters() -> CharacterSet:
    """Returns the characters of scripts that are written without spaces between words."""
    return CharacterSet(_UNSPACED)


@functools.cache
def syllabic_characters() -> CharacterSet:
    """Returns the characters of scripts without spaces of which each syllable counts as a word."""
    return CharacterSet(f"[{_SYLLABIC}[:Yi:]]")


def has_unspaced(text: str) -> bool:
    """Returns whether a text has a character of a script that is written without spaces between words.

    Example:

    >>> has_unspaced("naïve “words”"), has_unspaced("在 Berlin")
    (False, True)
    """
    return not text.isascii() and unspaced_characters().occurs_in(text)
