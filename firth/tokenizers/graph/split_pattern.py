"""The patterns of GPT-2 and Llama 3 as regular expressions over bytes, each byte a character of its own.

The graph's regular expressions read UTF-8 only and leave out other bytes. Here each byte is a character, so
any string can be split. The letters, numbers and spaces are frozen with the package, so that ids do not
depend on a library's version of Unicode.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from firth.tokenizers.graph.characters import read_table

Spans = Iterable[tuple[int, int]]
_ALL: Spans = ((0, 0xD7FF), (0xE000, 0x10FFFF))
_LINE_ENDS: Spans = ((10, 10), (13, 13))
# The last code points that take one, two and three bytes.
_LAST_OF_SIZE = (0x7F, 0x7FF, 0xFFFF)


def _without(spans: Spans) -> Iterator[tuple[int, int]]:
    """Yields the spans of all characters that are not in `spans`."""
    taken = sorted(spans)
    for first, last in _ALL:
        for start, end in taken:
            if first <= start <= last:
                if first < start:
                    yield first, start - 1
                first = end + 1
        if first <= last:
            yield first, last


def _byte_spans(first: int, last: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yields spans of bytes, one for each place, that together are the UTF-8 of first to last."""
    for top in _LAST_OF_SIZE:
        if first <= top < last:
            yield from _byte_spans(first, top)
            yield from _byte_spans(top + 1, last)
            return
    low, high = chr(first).encode(), chr(last).encode()
    for place in range(1, len(low)):
        below = (1 << 6 * place) - 1
        if first & ~below == last & ~below:
            continue
        if first & below:
            middle = first | below
        elif last & below != below:
            middle = (last & ~below) - 1
        else:
            continue
        yield from _byte_spans(first, middle)
        yield from _byte_spans(middle + 1, last)
        return
    yield tuple(zip(low, high))


def _group(spans: list[tuple[int, int]]) -> str:
    return "[{}]".format("".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in spans))


def byte_class(spans: Spans) -> str:
    r"""Returns a regular expression for one character, in UTF-8, of these spans of code points.

    Example:

    >>> byte_class([(ord("a"), ord("c")), (0xE8, 0xE9)])
    '(?:[\\x{61}-\\x{63}]|[\\x{c3}-\\x{c3}][\\x{a8}-\\x{a9}])'
    """
    endings: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {}
    for first, last in spans:
        for *start, end in _byte_spans(first, last):
            endings.setdefault(tuple(start), []).append(end)
    sequences = ("".join(_group([span]) for span in start) + _group(ends) for start, ends in endings.items())
    return f"(?:{'|'.join(sequences)})"


def _spans(*names: str) -> list[tuple[int, int]]:
    return [(first, last) for name in names for first, last in read_table("split_classes")[name]]


def space() -> str:
    """Returns a regular expression for one space of any kind."""
    return byte_class(_spans("spaces"))


class SplitPattern(NamedTuple):
    """A pattern that splits text into words.

    Attributes:
        spaces_before_word: Returns a regular expression for spaces before other text, all but the last as the
            first group. The last of such spaces may belong to the word.
        words: Returns a regular expression for one word, after `spaces_before_word` have been split off.
    """

    spaces_before_word: Callable[[], str]
    words: Callable[[], str]


def _last_space_apart(spaces: Spans) -> str:
    space = byte_class(spaces)
    return f"({space}+)({space}{byte_class(_without(_spans('spaces')))})"


@functools.lru_cache(maxsize=1)
def _spaces_of_gpt2() -> str:
    return _last_space_apart(_spans("spaces"))


@functools.lru_cache(maxsize=1)
def _words_of_gpt2() -> str:
    letters, numbers, spaces = (byte_class(_spans(name)) for name in ("letters", "numbers", "spaces"))
    others = byte_class(_without(_spans("letters", "numbers", "spaces")))
    return f"'s|'t|'re|'ve|'m|'ll|'d| ?{letters}+| ?{numbers}+| ?{others}+|{spaces}+"


@functools.lru_cache(maxsize=1)
def _spaces_of_llama3() -> str:
    # Spaces up to the last end of a line are a word of their own.
    return _last_space_apart(list(_without([*_without(_spans("spaces")), *_LINE_ENDS])))


@functools.lru_cache(maxsize=1)
def _words_of_llama3() -> str:
    letters, numbers, spaces = (byte_class(_spans(name)) for name in ("letters", "numbers", "spaces"))
    others = byte_class(_without(_spans("letters", "numbers", "spaces")))
    before = byte_class(_without([*_spans("letters", "numbers"), *_LINE_ENDS]))
    # Without regard to case, the long s is an s.
    endings = "|".join(["[sS]", byte_class([(0x17F, 0x17F)]), "[tTmMdD]", "[rRvV][eE]", "[lL][lL]"])
    symbols, lines = f" ?{others}+[\\r\\n]*", f"{spaces}*[\\r\\n]+"
    return f"'(?:{endings})|{before}?{letters}+|{numbers}{{1,3}}|{symbols}|{lines}|{spaces}+"


# Those of Radford et al. 2019 (reference code) and of Llama 3, which is that of GPT-4.
PATTERNS = {
    "gpt2": SplitPattern(_spaces_of_gpt2, _words_of_gpt2),
    "llama3": SplitPattern(_spaces_of_llama3, _words_of_llama3),
}
