"""Base of steps whose rules may differ by language, and the meanings of a word in these rules."""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import ConfigT, Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.language import identify
from firth.lazy import import_extra
from firth.recipes.corpus.step import LanguageRules
from firth.segmentation.words import split_words

RulesT = TypeVar("RulesT")
# Tokenizers by language. Each thread has its own, since a tokenizer changes as it works.
_held = threading.local()
# The tokenizer for all languages without one of their own in spaCy.
_OTHER = "xx"
_MOST_STRINGS = 1_000_000
# FineWeb's recipes use jieba. Without a segmenter each character would be a word.
_SETTINGS: dict[str, dict[str, Any]] = {"zh": {"nlp": {"tokenizer": {"segmenter": "jieba"}}}}
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
Splitter = Callable[[str], list[str]]
_LANGUAGE = "en"


class Rules(Protocol):
    """The rules of a step for a language."""

    def measures(self, text: str) -> dict[str, float]:
        """Returns the values that the rules compare with their thresholds."""

    def broken_by(self, text: str) -> str | None:
        """Returns the reason for which a text is dropped, or None."""


class StepByRules(DocumentStep[ConfigT]):
    """Base of steps that drop documents for the first rule that they break."""

    def __init__(self, config: ConfigT, make: Callable[[Any], Rules]) -> None:
        super().__init__(config)
        self._rules = RulesByLanguage[Any](cast(ConfigByLanguage, config), make)

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        return self._rules.of(document.text).measures(document.text)

    def decide(self, document: Document) -> Decision:  # noqa: D102
        reason = self._rules.of(document.text).broken_by(document.text)
        return Drop(reason) if reason else Keep(document)


class ConfigByLanguage(Protocol):
    """A `StepByLanguage` of a recipe."""

    @property
    def languages(self) -> Sequence[LanguageRules]:
        """Values by language."""


class RulesByLanguage(Generic[RulesT]):
    """The rules of a step for its languages and for all others.

    Example:

    >>> from firth.recipes.corpus.filters import FineWebStep, LanguageFineWeb
    >>> german = LanguageFineWeb(language="de", short_line_characters=40)
    >>> config = FineWebStep(kind="fineweb", languages=(german,))
    >>> rules = RulesByLanguage(config, lambda values: values.short_line_characters)
    >>> rules.of("Es war die beste und die schlimmste Zeit."), rules.of("It was the best of times.")
    (40, 30)
    """

    def __init__(self, config: ConfigByLanguage, make: Callable[[Any], RulesT]) -> None:
        self._others = make(config)
        self._of: dict[str, RulesT] = {each.language: make(each) for each in config.languages}

    def of(self, text: str) -> RulesT:
        """Returns the rules for a text. Its language is identified only if there are several."""
        if not self._of:
            return self._others
        language, _ = identify(text)
        return self._of.get(language, self._others)

    def __iter__(self) -> Iterator[RulesT]:
        """Yields the rules of all languages."""
        yield self._others
        yield from self._of.values()


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


def unspaced_words(text: str) -> list[str]:
    """Returns the words of a text, in which each character of a script without spaces is a word of its own.

    Its accents and the punctuation after it belong to it. Other scripts have words between spaces. BERT's
    tokenizers divide Han so too; no dictionary is asked where a word of several characters ends.

    Example:

    >>> unspaced_words("我們在 Berlin 住，很好。")
    ['我', '們', '在', 'Berlin', '住，', '很', '好。']
    """
    return _WORD.findall(text)


# Each function takes the language of the rules.
SPLITTERS: dict[str, Callable[[str], Splitter]] = {
    "script": lambda _: split_words,
    "spaces": lambda _: str.split,
    "characters": lambda _: unspaced_words,
    "spacy": SpacyWords,
}


def splitter_of(rules: Any) -> Splitter:
    """Returns the function that divides a text into words.

    Raises:
        CorpusError: if `words: spacy` needs a package that is not installed.
    """
    return SPLITTERS[rules.words](getattr(rules, "language", _LANGUAGE))
