"""Words as spaCy's tokenizers find them."""

import threading
from typing import Any

from firth.corpus.documents.errors import CorpusError
from firth.lazy import import_extra

# Tokenizers by language. Each thread has its own, since a tokenizer changes as it works.
_held = threading.local()
# The tokenizer for all languages without one of their own in spaCy.
_OTHER = "xx"
_MOST_STRINGS = 1_000_000
# FineWeb's recipes use jieba. Without a segmenter each character would be a word.
_SETTINGS: dict[str, dict[str, Any]] = {"zh": {"nlp": {"tokenizer": {"segmenter": "jieba"}}}}


class SpacyWords:
    """Function that divides text into the tokens of spaCy's blank pipeline of a language.

    Raises:
        CorpusError: if spaCy, or a package that it needs for the language, is not installed.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        _pipeline(language)

    def __call__(self, text: str) -> list[str]:
        """Returns the tokens without white space."""
        tokens = _pipeline(self._language).tokenizer(text)
        return [word for token in tokens if (word := token.text.strip())]


def words_of_letters(words: list[str]) -> list[str]:
    """Returns the words that have a letter or a digit, without tokens of punctuation alone.

    Example:

    >>> words_of_letters(["It", "'s", "9", "(", "...", "!"])
    ['It', "'s", '9']
    """
    return [word for word in words if word.isalnum() or any(map(str.isalnum, word))]


def _pipeline(language: str) -> Any:
    held = _held.__dict__
    # Its vocabulary grows with every new word of the corpus.
    if language not in held or len(held[language].vocab.strings) > _MOST_STRINGS:
        held[language] = _blank(language)
    return held[language]


def _blank(language: str) -> Any:
    (spacy,) = import_extra(CorpusError, "spacy", "spacy")
    try:
        spacy.util.get_lang_class(language)
    except ImportError:
        return spacy.blank(_OTHER)
    try:
        return spacy.blank(language, config=_SETTINGS.get(language, {}))
    except ImportError as error:
        raise CorpusError(f"words: spacy needs another package for {language!r}: {error}") from error
