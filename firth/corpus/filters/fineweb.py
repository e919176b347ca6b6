"""The rules of FineWeb on the lines of a document."""

from collections.abc import Sequence

from firth.corpus.filters.language_rules import StepByRules, splitter_of
from firth.corpus.filters.text_measures import characters, duplicates, stripped_lines
from firth.recipes.corpus.filters import FineWebRules, FineWebStep
from firth.segmentation.sentences import ends_without_mark


class FineWeb(StepByRules[FineWebStep]):
    r"""Drops lists, menus and documents that repeat lines, by statistics of their lines.

    The rules are those of Penedo et al. 2024 (arXiv:2406.17557, section 3.6).

    Example:

    >>> from firth.corpus.documents.document import Document
    >>> step = FineWeb(FineWebStep(kind="fineweb"))
    >>> step.decide(Document("1", "Home\nNews\nCall us.", "docs", "CC0", "a.txt"))
    Drop(reason='too_many_short_lines')
    """

    reasons = frozenset({
        "too_few_punctuated_lines",
        "too_many_short_lines",
        "duplicate_line_characters",
        "too_many_line_breaks",
    })  # fmt: skip

    def __init__(self, config: FineWebStep) -> None:
        super().__init__(config, _Rules)


class _Rules:
    """The rules for documents in one language."""

    def __init__(self, config: FineWebRules) -> None:
        self._config = config
        self._split = splitter_of(config)

    def measures(self, text: str) -> dict[str, float]:
        """Returns the values that the rules compare with their thresholds."""
        lines = stripped_lines(text)
        count, repeated = max(len(lines), 1), characters(duplicates(lines))
        return {
            "punctuated_line_fraction": self._punctuated(lines) / count,
            "short_line_fraction": self._short(lines) / count,
            "duplicate_character_fraction": repeated / max(characters(lines), 1),
            "line_breaks_per_word": text.count("\n") / max(len(self._split(text)), 1),
        }

    def broken_by(self, text: str) -> str | None:
        """Returns the reason for which a text is dropped, or None."""
        lines, config = stripped_lines(text), self._config
        # A text without lines breaks the first rule.
        if self._punctuated(lines) <= config.min_punctuated_line_fraction * len(lines):
            return "too_few_punctuated_lines"
        if self._short(lines) >= config.max_short_line_fraction * len(lines):
            return "too_many_short_lines"
        repeated = characters(duplicates(lines))
        if repeated and repeated >= config.max_duplicate_character_fraction * characters(lines):
            return "duplicate_line_characters"
        if text.count("\n") > config.max_line_breaks_per_word * len(self._split(text)):
            return "too_many_line_breaks"
        return None

    def _punctuated(self, lines: Sequence[str]) -> int:
        return sum(line.endswith(self._config.terminal_marks) or ends_without_mark(line) for line in lines)

    def _short(self, lines: Sequence[str]) -> int:
        return sum(len(line) < self._config.short_line_characters for line in lines)
