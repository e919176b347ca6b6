"""The quality rules of Gopher."""

import re
from collections.abc import Sequence
from itertools import filterfalse

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.by_language import RulesByLanguage
from firth.corpus.filters.list_files import read_list
from firth.corpus.text.line_shares import ELLIPSES, characters, stripped_lines
from firth.corpus.text.unspaced_words import unspaced_words
from firth.recipes.corpus.filters import GopherQualityRules, GopherQualityStep

_LETTER = re.compile(r"[^\W\d_]")


class GopherQuality(DocumentStep[GopherQualityStep]):
    """Drops documents that do not read like prose, for the first rule that they break.

    The rules are those of Rae et al. 2021 (arXiv:2112.11446, appendix A.1.1).

    Args:
        config: Thresholds of the rules, stop words and bullets, for all languages or by language.

    Raises:
        CorpusError: on construction, if a file of stop words cannot be read or is empty.

    Example:

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
        super().__init__(config)
        self._rules = RulesByLanguage(config, _Rules)

    def decide(self, document: Document) -> Decision:  # noqa: D102
        reason = self._rules.of(document.text).broken_by(document.text)
        return Drop(reason) if reason else Keep(document)


class _Rules:
    def __init__(self, config: GopherQualityRules) -> None:
        self._config = config
        self._is_unspaced = config.words == "characters"
        path = config.stop_words_file
        words = [text for _, text in read_list(path)] if path else config.stop_words
        self._stop_words = frozenset(map(str.lower, words))

    def broken_by(self, text: str) -> str | None:
        """Returns the reason for which a text is dropped, or None."""
        words = unspaced_words(text) if self._is_unspaced else text.split()
        return (
            self._in_words(words)
            or self._in_symbols(text, len(words))
            or self._in_lines(text)
            or self._in_vocabulary(text, words)
        )

    def _in_words(self, words: Sequence[str]) -> str | None:
        config, length = self._config, characters(words)
        if len(words) < config.min_words:
            return "too_few_words"
        if len(words) > config.max_words:
            return "too_many_words"
        if length < config.min_mean_word_length * len(words):
            return "words_too_short"
        if length > config.max_mean_word_length * len(words):
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
        wanted = self._config.min_stop_words
        if self._is_unspaced:
            # They may have several characters, which are no word here.
            lower = text.lower()
            return sum(word in lower for word in self._stop_words) >= wanted
        return (
            len(self._stop_words.intersection(words)) >= wanted
            or len(self._stop_words.intersection(map(str.lower, words))) >= wanted
        )
