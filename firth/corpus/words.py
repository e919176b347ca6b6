"""Words as documents are compared by: lowercase, without punctuation."""

import functools
import string
import unicodedata

_ASCII_PUNCTUATION: dict[int, None] = dict.fromkeys(map(ord, string.punctuation))


def comparable_words(text: str) -> list[str]:
    """Returns the words of a text in lowercase, without any character of Unicode's punctuation and symbols.

    A word is a run of non-space characters, and punctuation inside it closes up, as GPT-3 (arXiv:2005.14165,
    appendix C) and its followers compare words. What has no other character is no word.

    Example:

    >>> comparable_words("Don't -- “stop”, E.T.!")
    ['dont', 'stop', 'et']
    """
    lower = text.lower()
    if lower.isascii():
        return lower.translate(_ASCII_PUNCTUATION).split()
    # A text has few different marks, and one pass for each is quicker than a question for each character.
    for mark in filter(_is_mark, set(lower)):
        lower = lower.replace(mark, "")
    return lower.split()


@functools.lru_cache(maxsize=2**16)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
