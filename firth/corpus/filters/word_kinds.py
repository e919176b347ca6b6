"""Meanings of a word, by the key `words` of the rules on quality."""

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from firth.corpus.filters.spacy_words import SpacyWords
from firth.segmentation.words import split_words

# Thai and Lao, Burmese, Khmer, kana with the marks of repetition, Han.
_RANGES = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3041, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFD),
)
_UNSPACED = "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES)
_MARKS = "".join(
    character
    for first, last in _RANGES[:-1]
    for character in map(chr, range(first, last + 1))
    if unicodedata.category(character).startswith("M")
)
_WORD = re.compile(rf"[{_UNSPACED}][{_MARKS}]*[^\w\s{_UNSPACED}]*|[^\s{_UNSPACED}]+")


def unspaced_words(text: str) -> list[str]:
    """Returns the words of a text, in which each character of a script without spaces is a word of its own.

    Its accents and the punctuation after it belong to it. Other scripts have words between spaces. BERT's
    tokenizers divide Han so too; no dictionary is asked where a word of several characters ends.

    Example:

    >>> unspaced_words("我們在 Berlin 住，很好。")
    ['我', '們', '在', 'Berlin', '住，', '很', '好。']
    """
    return _WORD.findall(text)


Splitter = Callable[[str], list[str]]
# Each function takes the language of the rules.
SPLITTERS: dict[str, Callable[[str], Splitter]] = {
    "script": lambda _: split_words,
    "spaces": lambda _: str.split,
    "characters": lambda _: unspaced_words,
    "spacy": SpacyWords,
}
_LANGUAGE = "en"


def splitter_of(rules: Any) -> Splitter:
    """Returns the function that divides a text into words.

    Raises:
        CorpusError: if `words: spacy` needs a package that is not installed.
    """
    return SPLITTERS[rules.words](getattr(rules, "language", _LANGUAGE))
