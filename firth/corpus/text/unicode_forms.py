"""Unicode normalization whose time is linear in the length of the text."""

import functools
import itertools
import re
import unicodedata
from typing import Literal
from unicodedata import combining

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
_DECOMPOSED: dict[Form, Form] = {"NFC": "NFD", "NFD": "NFD", "NFKC": "NFKD", "NFKD": "NFKD"}
# CPython sorts the marks on a letter by insertion sort, whose time is quadratic in their number.
_MANY_MARKS = 32


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
