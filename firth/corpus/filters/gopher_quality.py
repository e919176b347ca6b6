"""The quality rules of Gopher."""

import json
import pathlib
import re
from collections.abc import Callable, Sequence
from itertools import filterfalse

from firth.corpus.filters.language import identify
from firth.corpus.filters.language_rules import StepByRules, splitter_of, words_of_letters
from firth.corpus.filters.text_measures import (
    ELLIPSES,
    are_too_long,
    are_too_short,
    characters,
    stripped_lines,
)
from firth.corpus.io.file_contents import read_list
from firth.recipes.corpus.filters import GopherQualityRules, GopherQualityStep

LengthRule = Callable[[Sequence[str], float], bool]
# The default of the step `language`.
_SURE = 0.99
_LETTER = re.compile(r"[^\W\d_]")
_ENGLISH_STOP_WORDS = GopherQualityRules.model_fields["stop_words"].default
ENGLISH = "en"
# By ISO 639-1 code. Those of English are in the recipe, as a key of the step `gopher_quality`.
_FILE = pathlib.Path(__file__).with_name("stop_words.json")
STOP_WORDS = {
    language: frozenset(words.split())
    for language, words in json.loads(_FILE.read_text(encoding="utf-8")).items()
}


def _are_fewer(words: Sequence[str], least: float) -> bool:
    return characters(words) < least * len(words)


def _are_more(words: Sequence[str], most: float) -> bool:
    return characters(words) > most * len(words)


# The words that count, and whether they are too short or too long on average, by the key `words`.
_WORDS: dict[str, tuple[Callable[[list[str]], list[str]], LengthRule, LengthRule]] = {
    "script": (list, are_too_short, are_too_long),
    "spaces": (list, _are_fewer, _are_more),
    "characters": (list, _are_fewer, _are_more),
    "spacy": (words_of_letters, _are_fewer, _are_more),
}


class GopherQuality(StepByRules[GopherQualityStep]):
    """Drops documents that do not read like prose, for the first rule that they break.

    The rules are those of Rae et al. 2021 (arXiv:2112.11446, appendix A.1.1).

    Raises:
        CorpusError: on construction, if a file of stop words cannot be read or is empty.

    Example:

    >>> from firth.corpus.documents.document import Document
    >>> step = GopherQuality(GopherQualityStep(kind="gopher_quality", min_words=2))
    >>> step.decide(Document("1", "Buy now!", "docs", "CC0", "a.txt"))
    Drop(reason='too_few_stop_words')
    """

    reasons = frozenset({
        "too_few_words",
        "too_many_words",
        "words_too_short",
        "words_too_long",
        "too_many_hashes",
        "too_many_ellipses",
        "too_many_bullet_lines",
        "too_many_ellipsis_lines",
        "too_few_alphabetic_words",
        "too_few_stop_words",
    })  # fmt: skip

    def __init__(self, config: GopherQualityStep) -> None:
        super().__init__(config, _Rules)


class _Rules:
    """The rules for documents in one language."""

    def __init__(self, config: GopherQualityRules) -> None:
        self._config = config
        self._is_unspaced = config.words == "characters"
        self._split = splitter_of(config)
        self._countable, self._are_too_short, self._are_too_long = _WORDS[config.words]
        path = config.stop_words_file
        words = [text for _, text in read_list(path)] if path else config.stop_words
        self._stop_words = frozenset(map(str.lower, words))
        self._are_english = not path and config.stop_words == _ENGLISH_STOP_WORDS

    def measures(self, text: str) -> dict[str, float]:
        """Returns the values that the rules compare with their thresholds, without that of stop words."""
        words, lines = self._split(text), stripped_lines(text)
        in_words, in_lines = max(len(words), 1), max(len(lines), 1)
        countable = self._countable(words)
        return {
            "words": len(countable),
            "mean_word_length": characters(countable) / max(len(countable), 1),
            "hashes_per_word": text.count("#") / in_words,
            "ellipses_per_word": sum(map(text.count, ELLIPSES)) / in_words,
            "bullet_line_fraction": sum(line.startswith(self._config.bullets) for line in lines) / in_lines,
            "ellipsis_line_fraction": sum(line.endswith(ELLIPSES) for line in lines) / in_lines,
            "alphabetic_word_fraction": sum(map(bool, map(_LETTER.search, words))) / in_words,
        }

    def broken_by(self, text: str) -> str | None:
        """Returns the reason for which a text is dropped, or None."""
        words = self._split(text)
        return (
            self._in_words(self._countable(words))
            or self._in_symbols(text, len(words))
            or self._in_lines(text)
            or self._in_vocabulary(text, words)
        )

    def _in_words(self, words: Sequence[str]) -> str | None:
        config = self._config
        if len(words) < config.min_words:
            return "too_few_words"
        if len(words) > config.max_words:
            return "too_many_words"
        if self._are_too_short(words, config.min_mean_word_length):
            return "words_too_short"
        if self._are_too_long(words, config.max_mean_word_length):
            return "words_too_long"
        return None

    def _in_symbols(self, text: str, words: int) -> str | None:
        most = self._config.max_symbols_per_word * words
        if text.count("#") > most:
            return "too_many_hashes"
        if sum(map(text.count, ELLIPSES)) > most:
            return "too_many_ellipses"
        return None

    def _in_lines(self, text: str) -> str | None:
        lines = stripped_lines(text)
        bullets = sum(line.startswith(self._config.bullets) for line in lines)
        if bullets > self._config.max_bullet_line_fraction * len(lines):
            return "too_many_bullet_lines"
        ellipses = sum(line.endswith(ELLIPSES) for line in lines)
        if ellipses > self._config.max_ellipsis_line_fraction * len(lines):
            return "too_many_ellipsis_lines"
        return None

    def _in_vocabulary(self, text: str, words: Sequence[str]) -> str | None:
        least = self._config.min_alphabetic_word_fraction * len(words)
        # Most words consist of letters only, which is quick to test.
        others = list(filterfalse(str.isalpha, words))
        if len(words) - len(others) < least:
            lettered = sum(map(bool, map(_LETTER.search, others)))
            if len(words) - len(others) + lettered < least:
                return "too_few_alphabetic_words"
        if not self._has_stop_words(text, words):
            return "too_few_stop_words"
        return None

    def _has_stop_words(self, text: str, words: Sequence[str]) -> bool:
        if self._hold(text, words, self._stop_words):
            return True
        if not self._are_english:
            return False
        # Few texts get here. They are dropped if they are English.
        language, probability = identify(text)
        if language == ENGLISH or probability < _SURE:
            return False
        return language not in STOP_WORDS or self._hold(text, words, STOP_WORDS[language])

    def _hold(self, text: str, words: Sequence[str], stop_words: frozenset[str]) -> bool:
        """Returns whether a text has enough of some stop words."""
        wanted = self._config.min_stop_words
        if self._is_unspaced:
            # A stop word may have several characters, which are not a word here.
            lower = text.lower()
            return sum(word in lower for word in stop_words) >= wanted
        return (
            len(stop_words.intersection(words)) >= wanted
            or len(stop_words.intersection(map(str.lower, words))) >= wanted
        )
