"""The `pattern` of a JSON Schema as a regular expression of the JSON string that holds the text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from firth.constraints.matcher import ConstraintError

_META = set(r"\.+*?()|[]{}^$#&-~/")
# Characters that JSON writes as an escape of two characters.
_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_LAST = 0x10FFFF
# A set without a character.
_NOTHING = r"[a&&b]"
# Characters that are not written as they are, and surrogates, which are none.
_ESCAPED = ((0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F), (0xD800, 0xDFFF))
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_DIGITS = ((48, 57),)
_WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACES = (
    (9, 13),
    (32, 32),
    (160, 160),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_LINE_ENDS = ((10, 10), (13, 13), (0x2028, 0x2029))
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
# Other readers count letters and digits of all scripts in \w and \d, so that none is in their complements.
_NOT_IN = {"d": r"\p{Nd}", "w": r"\w", "s": r"\s"}
_QUANTIFIER = re.compile(r"([*+?]|\{(\d+)(,(\d*))?\})\??")

Ranges = Sequence[tuple[int, int]]
_ANY = r"[\x{0}-\x{10ffff}]"


def escaped(text: str) -> str:
    r"""Returns a regular expression of one text.

    Example:

    >>> escaped('{"a": [1]}')
    '\\{"a": \\[1\\]\\}'
    """
    return "".join(f"\\{each}" if each in _META else each for each in text)


def string_pattern(pattern: str, path: str, character: str) -> str:
    r"""Returns the expression of the inside of a JSON string in which a pattern is found.

    The pattern is read as ECMA 262 reads it, without look-around, references to groups, flags, and bounds of
    words; `^` and `$` come at the ends of it or of its alternatives.

    Args:
        pattern: The pattern.
        path: JSON Pointer of the pattern.
        character: Expression of any character of a JSON string.

    Raises:
        ConstraintError: for a pattern that is not valid or not supported, with the place in it.

    Example:

    >>> string_pattern('^a"+$', "#/pattern", ".")
    '(?:a(?:\\\\")+)'
    """
    if not isinstance(pattern, str):
        raise ConstraintError(f"{path}: must be a text")
    return _Parser(pattern, path, character).read()


def plain_pattern(pattern: str, path: str) -> str:
    r"""Returns the expression of whole texts in which a pattern is found, as Rust's crate `regex` reads it.

    Args:
        pattern: The pattern, as `string_pattern` reads it.
        path: JSON Pointer of the pattern.

    Raises:
        ConstraintError: as of `string_pattern`.

    Example:

    >>> plain_pattern("^a", "#/pattern")
    '^(?:\\x{61}[\\x{0}-\\x{10ffff}]*)$'
    """
    return f"^{_Parser(pattern, path, _ANY, is_plain=True).read()}$"


class _Piece(NamedTuple):
    """A part of an expression, and whether the pattern was anchored at its ends."""

    text: str
    begins: bool = False
    ends: bool = False


class _Parser:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str, path: str, character: str, is_plain: bool = False) -> None:
        self._pattern, self._path, self._any, self._place, self._depth = pattern, path, f"{character}*", 0, 0
        self._is_plain = is_plain

    def read(self) -> str:
        alternatives = self._alternatives()
        if self._place < len(self._pattern):
            raise self._error("a bracket without its opening one")
        texts = [
            f"{'' if each.begins else self._any}{each.text}{'' if each.ends else self._any}"
            for each in alternatives
        ]
        return f"(?:{'|'.join(texts)})"

    def _error(self, what: str) -> ConstraintError:
        return ConstraintError(f"{self._path}: {what} at place {self._place} of {self._pattern!r}")

    def _peek(self, size: int = 1) -> str:
        return self._pattern[self._place : self._place + size]

    def _take(self) -> str:
        if self._place >= len(self._pattern):
            raise self._error("the pattern ends too early")
        self._place += 1
        return self._pattern[self._place - 1]

    def _alternatives(self) -> list[_Piece]:
        found = [self._sequence()]
        while self._peek() == "|":
            self._place += 1
            found.append(self._sequence())
        return found

    def _sequence(self) -> _Piece:
        parts: list[str] = []
        begins = ends = False
        while (next_one := self._peek()) and next_one not in "|)":
            if ends:
                raise self._error("something after $ is not supported,")
            if next_one in "^$":
                if self._depth or (next_one == "^" and parts):
                    raise self._error(f"{next_one} is supported at the ends of the pattern alone,")
                begins, ends = begins or next_one == "^", ends or next_one == "$"
                self._place += 1
                continue
            atom = self._atom()
            parts.append(self._repeated(atom))
        return _Piece("".join(parts), begins, ends)

    def _repeated(self, atom: str) -> str:
        found = _QUANTIFIER.match(self._pattern, self._place)
        if found is None:
            return atom
        self._place = found.end()
        # What is written is the same whether as much as possible is taken or as little.
        return f"(?:{atom}){found[1]}"

    def _atom(self) -> str:
        first = self._take()
        if first == "(":
            return self._group()
        if first == "[":
            return self._set()
        if first == ".":
            return _characters(_complement(_LINE_ENDS), self._is_plain)
        if first == "\\":
            return self._escape()
        if first in "*+?{}]":
            raise self._error(f"{first} has nothing to repeat or close")
        return _character(first, self._is_plain)

    def _group(self) -> str:
        if self._peek(2) == "?:":
            self._place += 2
        elif self._peek(2) == "?<" and self._peek(3) not in ("?<=", "?<!"):
            end = self._pattern.find(">", self._place)
            if end < 0:
                raise self._error("the name of a group is not closed")
            self._place = end + 1
        elif self._peek() == "?":
            raise self._error("look-around and flags are not supported,")
        self._depth += 1
        inside = "|".join(each.text for each in self._alternatives())
        self._depth -= 1
        if self._peek() != ")":
            raise self._error("a bracket is not closed")
        self._place += 1
        return f"(?:{inside})"

    def _escape(self) -> str:
        name = self._peek()
        if name in ("d", "w", "s"):
            self._place += 1
            return _characters(_CLASSES[name], self._is_plain)
        if name in ("D", "W", "S"):
            self._place += 1
            return _characters(_complement(_CLASSES[name.lower()]), self._is_plain, _NOT_IN[name.lower()])
        return _character(self._escaped_character(), self._is_plain)

    def _escaped_character(self) -> str:
        """Returns the character that an escape names, in a set or out of it."""
        name = self._take()
        if name in _LETTERS:
            return _LETTERS[name]
        if name in ("x", "u"):
            size = 2 if name == "x" else 4
            digits = self._peek(size)
            if not re.fullmatch(rf"[0-9a-fA-F]{{{size}}}", digits):
                raise self._error(f"\\{name} needs {size} hexadecimal digits")
            self._place += size
            return chr(int(digits, 16))
        if name.isalnum():
            raise self._error(f"\\{name} is not supported,")
        return name

    def _set(self) -> str:
        is_not = self._peek() == "^"
        self._place += is_not
        ranges: list[tuple[int, int]] = []
        excluded = ""
        while self._peek() != "]":
            if self._peek() == "\\" and (name := self._peek(2)[1:]) in _CLASSES:
                self._place += 2
                ranges += _CLASSES[name]
                excluded += _NOT_IN[name]
                continue
            if self._peek() == "\\" and self._peek(2)[1:] in ("D", "W", "S"):
                raise self._error("the complement of a class in a set is not supported,")
            first = self._set_character()
            last = first
            if self._peek() == "-" and self._peek(2) != "-]":
                self._place += 1
                last = self._set_character()
            if last < first:
                raise self._error("a range ends before it begins")
            ranges.append((ord(first), ord(last)))
        self._place += 1
        found = _complement(ranges) if is_not else ranges
        return _characters(found, self._is_plain, excluded if is_not else "")

    def _set_character(self) -> str:
        first = self._take()
        return self._escaped_character() if first == "\\" else first


def _character(character: str, is_plain: bool) -> str:
    """Returns the expression of one character, as it is or inside a JSON string."""
    if is_plain:
        return _class_range(ord(character), ord(character))
    if character in _SHORT:
        return escaped(f"\\{_SHORT[character]}")
    # Other control characters are not written.
    return _NOTHING if ord(character) < 0x20 or ord(character) == 0x7F else escaped(character)


def _characters(ranges: Ranges, is_plain: bool, excluded: str = "") -> str:
    """Returns the expression of any character of some ranges, as it is or inside a JSON string.

    Args:
        excluded: Classes of which no character is let through.
    """
    plain: list[tuple[int, int]] = []
    named: list[str] = []
    for first, last in ranges:
        if is_plain:
            plain += _without((first, last), _ESCAPED[-1:])
            continue
        named += [_character(each, False) for each in _SHORT if first <= ord(each) <= last]
        plain += _without((max(first, 0x20), last), _ESCAPED)
    inside = "".join(_class_range(*each) for each in plain)
    alternatives = list(dict.fromkeys(named))
    if inside:
        alternatives.insert(0, f"[[{inside}]--[{excluded}]]" if excluded else f"[{inside}]")
    return f"(?:{'|'.join(alternatives)})" if alternatives else _NOTHING


def _without(own: tuple[int, int], holes: Ranges) -> list[tuple[int, int]]:
    """Returns the parts of a range outside of some others."""
    first, last = own
    found = []
    for low, high in holes:
        if first <= low <= last or first <= high <= last:
            if first < low:
                found.append((first, low - 1))
            first = max(first, high + 1)
    if first <= last:
        found.append((first, last))
    return found


def _class_range(first: int, last: int) -> str:
    low, high = f"\\x{{{first:x}}}", f"\\x{{{last:x}}}"
    return low if first == last else f"{low}-{high}"


def _complement(ranges: Ranges) -> list[tuple[int, int]]:
    found, place = [], 0
    for first, last in sorted(ranges):
        if first > place:
            found.append((place, first - 1))
        place = max(place, last + 1)
    return [*found, (place, _LAST)] if place <= _LAST else found
