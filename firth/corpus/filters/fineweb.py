"""The rules of FineWeb on the lines of a document."""

from collections.abc import Sequence

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.by_language import RulesByLanguage
from firth.corpus.filters.word_kinds import Splitter, splitter_of
from firth.corpus.text.line_shares import characters, duplicates, stripped_lines
from firth.recipes.corpus.filters import FineWebRules, FineWebStep
from firth.segmentation.sentences import ends_without_mark


class FineWeb(DocumentStep[FineWebStep]):
    r"""Drops lists, menus and documents that repeat lines, by statistics of their lines.

    The rules are those of Penedo et al. 2024 (arXiv:2406.17557, section 3.6).

    Example:

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
        super().__init__(config)
        self._rules = RulesByLanguage(config, lambda rules: (rules, splitter_of(rules)))

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        text = document.text
        lines, (rules, split) = stripped_lines(text), self._rules.of(text)
        count, repeated = max(len(lines), 1), characters(duplicates(lines))
        return {
            "punctuated_line_fraction": _punctuated(lines, rules) / count,
            "short_line_fraction": _short(lines, rules) / count,
            "duplicate_character_fraction": repeated / max(characters(lines), 1),
            "line_breaks_per_word": text.count("\n") / max(len(split(text)), 1),
        }

    def decide(self, document: Document) -> Decision:  # noqa: D102
        reason = _broken_by(document.text, *self._rules.of(document.text))
        return Drop(reason) if reason else Keep(document)


def _broken_by(text: str, rules: FineWebRules, split: Splitter) -> str | None:
    """Returns the reason for which a text is dropped, or None."""
    lines = stripped_lines(text)
    if not lines:
        return "too_few_punctuated_lines"
    if _punctuated(lines, rules) <= rules.min_punctuated_line_fraction * len(lines):
        return "too_few_punctuated_lines"
    if _short(lines, rules) >= rules.max_short_line_fraction * len(lines):
        return "too_many_short_lines"
    repeated = characters(duplicates(lines))
    if repeated and repeated >= rules.max_duplicate_character_fraction * characters(lines):
        return "duplicate_line_characters"
    if text.count("\n") > rules.max_line_breaks_per_word * len(split(text)):
        return "too_many_line_breaks"
    return None


def _punctuated(lines: Sequence[str], rules: FineWebRules) -> int:
    return sum(line.endswith(rules.terminal_marks) or ends_without_mark(line) for line in lines)


def _short(lines: Sequence[str], rules: FineWebRules) -> int:
    return sum(len(line) < rules.short_line_characters for line in lines)
