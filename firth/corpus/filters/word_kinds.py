"""Meanings of a word, by the key `words` of the rules on quality."""

from collections.abc import Callable
from typing import Any

from firth.corpus.filters.spacy_words import SpacyWords
from firth.corpus.text.words import unspaced_words
from firth.segmentation.words import split_words

Splitter = Callable[[str], list[str]]
# Of the language of the rules.
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
