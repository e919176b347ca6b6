"""The rules of FineWeb on the lines of a document."""

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.text.line_shares import TERMINAL_MARKS, characters, duplicates, stripped_lines
from firth.recipes.corpus.filters import FineWebStep


class FineWeb(DocumentStep[FineWebStep]):
    r"""Drops lists, menus and documents that repeat lines, by statistics of their lines.

    The rules are those of Penedo et al. 2024 (arXiv:2406.17557, section 3.6).

    Args:
        config: Thresholds of the rules.

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

    def decide(self, document: Document) -> Decision:  # noqa: D102
        config, text = self._config, document.text
        lines = stripped_lines(text)
        if not lines:
            return Drop("too_few_punctuated_lines")
        punctuated = sum(line.endswith(TERMINAL_MARKS) for line in lines)
        if punctuated <= config.min_punctuated_line_fraction * len(lines):
            return Drop("too_few_punctuated_lines")
        short = sum(len(line) < config.short_line_characters for line in lines)
        if short >= config.max_short_line_fraction * len(lines):
            return Drop("too_many_short_lines")
        repeated = characters(duplicates(lines))
        if repeated and repeated >= config.max_duplicate_character_fraction * characters(lines):
            return Drop("duplicate_line_characters")
        if text.count("\n") > config.max_line_breaks_per_word * len(text.split()):
            return Drop("too_many_line_breaks")
        return Keep(document)
