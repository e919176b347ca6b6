"""Tables of characters that are frozen with the package, BERT's normalisation of each above all.

They were read off the reference implementations code point by code point, so that ids depend neither on the
Unicode version of Python nor on that of tensorflow-text.
"""

import bisect
import enum
import functools
import hashlib
import json
import pathlib
import unicodedata
from typing import Any

import numpy as np
import numpy.typing as npt

CODE_POINTS = 0x110000
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
# A character in words: within them, alone as one, or in none.
_WITHIN, _ALONE, _NOWHERE = range(3)


class Kind(enum.IntFlag):
    """Class of a character; a character without a class is part of a word.

    REMOVED: control, format, private use; dropped from text.
    SPACES: becomes a space.
    PUNCTUATION: a word by itself. ASCII symbols such as `$` and `^` are among it.
    IDEOGRAPHS: CJK, a word by itself.
    ACCENTS: dropped when lower-casing (nonspacing marks).
    SPLIT_BY_KERNEL: part of a word, but taken for punctuation or an ideograph by tensorflow-text's kernel.
    """

    REMOVED = 1
    SPACES = 2
    PUNCTUATION = 4
    IDEOGRAPHS = 8
    ACCENTS = 16
    SPLIT_BY_KERNEL = 32


@functools.lru_cache(maxsize=1)
def kinds() -> npt.NDArray[Any]:
    """Returns the `Kind` flags of all code points: uint8 [0x110000].

    Example:

    >>> Kind(int(kinds()[ord("$")]))
    <Kind.PUNCTUATION: 4>
    """
    flags = np.zeros(CODE_POINTS, np.uint8)
    for kind in Kind:
        for first, last in read_table("characters")[str(kind.name).lower()]:
            flags[first : last + 1] |= np.uint8(kind)
    flags.setflags(write=False)
    return flags


def spans(kind: Kind) -> list[tuple[int, int]]:
    """Returns the first and last code points of the runs of characters of a kind.

    Example:

    >>> spans(Kind.PUNCTUATION)[:2]
    [(33, 47), (58, 64)]
    """
    points = np.flatnonzero(kinds() & kind)
    breaks = np.flatnonzero(np.diff(points) > 1)
    return list(zip(points[np.r_[0, breaks + 1]].tolist(), points[np.r_[breaks, -1]].tolist()))


@functools.lru_cache(maxsize=1)
def lowercase_map() -> dict[int, str]:
    """Returns the characters that lower-casing changes: decomposed, without accents, in lower case.

    Example:

    >>> lowercase_map()[ord("Å")], ord("a") in lowercase_map()
    ('a', False)
    """
    mapping = lower_case_in("characters")
    # Syllables decompose by rule (Unicode, section 3.12), so that the table need not hold 11,172 of them.
    mapping.update({point: unicodedata.normalize("NFD", chr(point)) for point in HANGUL_SYLLABLES})
    return mapping


def is_word(text: str, lowercase: bool) -> bool:
    """Returns whether `text` can be one word, or a part of one, after normalisation.

    Example:

    >>> is_word("fox", True), is_word("Fox", True), is_word(".", True), is_word("a.b", True)
    (True, False, True, False)
    """
    parts = {_part(character, lowercase) for character in text}
    return parts == {_WITHIN} or (parts == {_ALONE} and len(text) == 1)


@functools.cache
def _part(character: str, lowercase: bool) -> int:
    # The pieces of a vocabulary have few characters, each of them often.
    flag = Kind(int(kinds()[ord(character)]))
    gone = Kind.REMOVED | Kind.SPACES | (Kind.ACCENTS if lowercase else Kind(0))
    if flag & gone or (lowercase and ord(character) in lowercase_map()):
        return _NOWHERE
    return _ALONE if flag & (Kind.PUNCTUATION | Kind.IDEOGRAPHS) else _WITHIN


@functools.cache
def read_table(name: str) -> dict[str, Any]:
    """Returns a table of this folder.

    Example:

    >>> sorted(read_table("split_classes"))
    ['letters', 'numbers', 'spaces']
    """
    return json.loads(pathlib.Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))


def lower_case_in(name: str) -> dict[int, str]:
    """Returns the lower case of each character that has one in a table, by code point.

    Example:

    >>> lower_case_in("letters")[ord("A")]
    'a'
    """
    return {ord(source): target for target, text in read_table(name)["lowercase"].items() for source in text}


@functools.cache
def table_digest(name: str) -> str:
    """Returns the SHA-256 of a table, in hex, a part of the digest of a tokenizer.

    Example:

    >>> len(table_digest("characters"))
    64
    """
    return hashlib.sha256(json.dumps(read_table(name), sort_keys=True).encode()).hexdigest()


@functools.lru_cache(maxsize=2**16)
def is_after_unicode_9(character: str) -> bool:
    r"""Returns whether Unicode 9.0 does not have a character.

    Example:

    >>> is_after_unicode_9("\u3300"), is_after_unicode_9("\u32ff")
    (False, True)
    """
    if character.isascii():
        return False
    spans = read_table("unicode_9")["unassigned"]
    place = bisect.bisect_right(spans, [ord(character), 0x110000]) - 1
    return place >= 0 and ord(character) <= spans[place][1]
