"""The rules of C4, which cut lines and drop documents."""

import re
from collections import Counter
from collections.abc import Callable

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.filters.text_measures import ELLIPSES, stripped_lines
from firth.recipes.corpus.filters import TERMINAL_MARKS, C4Step
from firth.segmentation.sentences import ends_without_mark, split_sentences
from firth.segmentation.words import count_words, has_unspaced, split_words

_CITATION = re.compile(r"\[(?:\d*|edit|citation needed)\]")
LineRule = tuple[str, Callable[[str], object]]


class C4(DocumentStep[C4Step]):
    r"""Cuts lines, and drops documents for `lorem_ipsum`, `curly_bracket`, `too_few_sentences` or `empty`.

    Blank lines are removed, and so is white space at the ends of lines. The counts are the number of lines
    cut by the first rule that applies to each (`lines_word_too_long`, `lines_without_end`,
    `lines_too_few_words`, `lines_javascript`, `lines_policy`), and the number of removed `citations`. "Lorem
    ipsum" and curly brackets are looked for in the whole document, as the paper says (Raffel et al. 2019,
    arXiv:1910.10683, section 2.2); its released code looks only at the lines that are left.

    Example:

    >>> step = C4(C4Step(kind="c4", min_sentences=1))
    >>> step.decide(Document("1", "Home | News\nThe whale [2] swam away.\n", "docs", "CC0", "a.txt"))
    Keep(document=Document(id='1', text='The whale  swam away.', ...))
    """

    reasons = frozenset({"lorem_ipsum", "curly_bracket", "too_few_sentences", "empty"})
    changes_text = True

    def measures(self, document: Document) -> dict[str, float]:  # noqa: D102
        lines = self._cut(document.text, Counter())
        sentences = sum(len(split_sentences(line)) for line in lines)
        cut = len(stripped_lines(document.text)) - len(lines)
        return {"sentences": sentences, "cut_line_fraction": cut / max(cut + len(lines), 1)}

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text, lower, counts = document.text, document.text.lower(), Counter[str]()
        if self._config.lorem_ipsum and "lorem ipsum" in lower:
            return Drop("lorem_ipsum")
        if self._config.curly_bracket and "{" in text:
            return Drop("curly_bracket")
        lines = self._cut(text, counts)
        if not lines:
            return Drop("too_few_sentences" if self._config.min_sentences else "empty")
        if not _has_sentences(lines, self._config.min_sentences):
            return Drop("too_few_sentences")
        return Keep(document.with_text("\n".join(lines)), counts)

    def _cut(self, text: str, counts: Counter[str]) -> list[str]:
        """Returns the lines that are left, and counts the cuts."""
        lower = text.lower()
        if self._config.citations:
            text = _without_citations(text, counts)
        return self._kept_lines(text, self._line_rules(lower), counts)

    def _line_rules(self, lower: str) -> list[LineRule]:
        """Returns the rules that may cut a line of the document whose text in lower case is `lower`."""
        config, rules = self._config, list[LineRule]()
        if config.max_word_length:
            rules.append(("lines_word_too_long", self._has_long_word))
        if config.terminal_punctuation:
            rules.append(("lines_without_end", _has_no_end))
        if config.min_words_per_line:
            rules.append(("lines_too_few_words", self._has_few_words))
        if config.javascript and "javascript" in lower:
            rules.append(("lines_javascript", lambda line: "javascript" in line.lower()))
        phrases = [phrase for phrase in config.policy_phrases if phrase in lower]
        if phrases:
            rules.append(("lines_policy", lambda line: any(phrase in line.lower() for phrase in phrases)))
        return rules

    def _has_long_word(self, line: str) -> bool:
        longest = self._config.max_word_length
        return len(line) > longest and max(map(len, split_words(line))) > longest

    def _has_few_words(self, line: str) -> bool:
        least = self._config.min_words_per_line
        # The rest of a long line is not read.
        return (count_words(line) if has_unspaced(line) else len(line.split(None, least - 1))) < least

    def _kept_lines(self, text: str, rules: list[LineRule], counts: Counter[str]) -> list[str]:
        kept = []
        for line in stripped_lines(text):
            broken = next((name for name, breaks in rules if breaks(line)), None)
            if broken:
                counts[broken] += 1
            else:
                kept.append(line)
        return kept


def _without_citations(text: str, counts: Counter[str]) -> str:
    """Returns the text without citations, also without those that appear when an inner one is removed."""
    while "[" in text:
        text, removed = _CITATION.subn("", text)
        if not removed:
            break
        counts["citations"] += removed
    return text


def _has_no_end(line: str) -> bool:
    if line.endswith(ELLIPSES):
        return True
    return not line.endswith(TERMINAL_MARKS) and not ends_without_mark(line)


def _has_sentences(lines: list[str], wanted: int) -> bool:
    if len(lines) >= wanted:
        return True
    return sum(len(split_sentences(line)) for line in lines) >= wanted
