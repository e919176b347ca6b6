"""Words and texts without case, punctuation and invisible characters, by which documents are compared."""

import functools
import itertools
import re
import string
import unicodedata
from collections.abc import Callable
from typing import Literal
from unicodedata import combining

from firth.segmentation.words import has_unspaced, split_words

_ASCII_PUNCTUATION: dict[int, None] = dict.fromkeys(
    [*map(ord, string.punctuation), *(code for code in range(128) if not chr(code).isprintable())]
)
_MAX_PASSES = 100
# Unicode's Default_Ignorable_Code_Point among letters and accents: characters that are not displayed.
_INVISIBLE = frozenset(
    chr(code)
    for first, last in (
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)
Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
_DECOMPOSED: dict[Form, Form] = {"NFC": "NFD", "NFD": "NFD", "NFKC": "NFKD", "NFKD": "NFKD"}
# CPython sorts the marks on a letter by insertion sort, whose time is quadratic in their number.
_MANY_MARKS = 32


for _space in map(ord, "\t\n\v\f\r\x1c\x1d\x1e\x1f"):
    del _ASCII_PUNCTUATION[_space]


def comparable_words(text: str) -> list[str]:
    """Returns the words of a text without case, punctuation, symbols and invisible characters.

    A word is one of `split_words`: a run of non-space characters, which ICU's rules divide in scripts without
    spaces. Punctuation inside a word is removed and its parts are joined, as
    in the comparison of GPT-3 (arXiv:2005.14165, appendix C); punctuation on its own is not a word. Invisible
    characters, such as soft hyphens and zero-width spaces, are removed too. Letters of another width or form
    are replaced by their usual form (Unicode's NFKC). Accents are kept, because they distinguish words.

    Example:

    >>> comparable_words("Don't -- “stop”, E.T.!")
    ['dont', 'stop', 'et']
    >>> comparable_words("co­operate ＷＨＯ zero​width")
    ['cooperate', 'who', 'zerowidth']
    """
    if not has_unspaced(text):
        return comparable_forms(text)
    return [form for word in split_words(text) for form in comparable_forms(word)]


def comparable_forms(word: str) -> list[str]:
    """Returns the comparable forms of a word of `split_words`: none if it is punctuation alone.

    A ligature may represent several words.

    Example:

    >>> comparable_forms("好，"), comparable_forms("--")
    (['好'], [])
    """
    if word.isascii():
        return word.lower().translate(_ASCII_PUNCTUATION).split()
    return _fold(word, _is_mark_or_invisible).split()


def comparable_text(text: str) -> str:
    """Returns a text in NFKC, case-folded and without invisible characters.

    Example:

    >>> comparable_text("Straße, Ａ​B")
    'strasse, ab'
    """
    return text.lower() if text.isascii() else _fold(text, _is_invisible)


def _fold(text: str, is_left_out: Callable[[str], bool]) -> str:
    characters = set(text)
    text = _without(text, [each for each in characters if is_left_out(each)])
    if not any(_changes(each) for each in characters if not is_left_out(each)):
        return text.lower()
    normalized = normalize("NFKC", text)
    folded = normalize("NFKC", normalized.casefold())
    return folded if normalized == text else "".join(each for each in folded if not is_left_out(each))


def _without(text: str, left_out: list[str]) -> str:
    # One pass for each of a few different characters is quicker than one test for each position.
    if len(left_out) > _MAX_PASSES:
        return text.translate(dict.fromkeys(map(ord, left_out)))
    for character in left_out:
        text = text.replace(character, "")
    return text


@functools.lru_cache(maxsize=2**16)
def _changes(character: str) -> bool:
    """Returns whether a text with this character may have another form than its lower case."""
    if unicodedata.category(character)[0] == "M" or "\u1100" <= character <= "\u11ff" or character == "Σ":
        return True
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold())
    return folded != character.lower()


@functools.lru_cache(maxsize=2**16)
def _is_mark_or_invisible(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS" or _is_invisible(character)


@functools.lru_cache(maxsize=2**16)
def _is_invisible(character: str) -> bool:
    category = unicodedata.category(character)
    return category == "Cf" or character in _INVISIBLE or (category == "Cc" and not character.isspace())


def normalize(form: Form, text: str) -> str:
    r"""Returns the result of `unicodedata.normalize`, quickly also for long runs of combining marks.

    Example:

    >>> normalize("NFKC", "e\u0301\ufb01")
    'éfi'
    """
    decomposed_form = _DECOMPOSED[form]
    marks = "".join(each for each in set(text) if _is_mark(decomposed_form, each))
    if marks:
        run = re.compile(f"[{re.escape(marks)}]{{{_MANY_MARKS},}}")
        text = run.sub(lambda found: _in_order(decomposed_form, found[0]), text)
    return unicodedata.normalize(form, text)


@functools.lru_cache(maxsize=2**16)
def _is_mark(form: Form, character: str) -> bool:
    """Returns whether a character, or the first of its decomposition, is a combining mark."""
    return not character.isascii() and combining(unicodedata.normalize(form, character)[0]) > 0


def _in_order(form: Form, marks: str) -> str:
    """Returns marks decomposed and in Unicode's canonical order."""
    decomposed = (part for each in marks for part in unicodedata.normalize(form, each))
    groups = itertools.groupby(decomposed, key=lambda each: combining(each) > 0)
    return "".join("".join(sorted(group, key=combining) if sorts else group) for sorts, group in groups)
