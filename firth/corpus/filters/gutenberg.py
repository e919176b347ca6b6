"""The step that removes the notices of Project Gutenberg before and after a book."""

import re
from collections import Counter
from collections.abc import Iterator

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.recipes.corpus.filters import GutenbergStep

_MARK = re.compile(
    r"^[ \t]*\*\*\* ?(START|END) OF TH(?:IS|E) PROJECT GUTENBERG E-?(?:BOOK|TEXT)[^*]{0,300}\*\*\*[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)
# The last words before the mark, on one or two lines.
_FAREWELL = re.compile(
    r"^End of (?:the )?Project Gutenberg\b[^\n]*(?:\n[^\n]+)?\s*\Z", re.IGNORECASE | re.MULTILINE
)
FAREWELL_CHARACTERS = 500
_CREDITS = re.compile(
    r"\s*(?:(?:HTML version |E-?text )?(?:produced|prepared|transcribed|scanned|created) (?:by|from)\b"
    r"|This e-?(?:text|book) was (?:produced|prepared|transcribed|scanned)\b"
    r"|Special thanks are due to\b)(?:[^\r\n]+\r?\n?)*",
    re.IGNORECASE,
)


class Gutenberg(DocumentStep[GutenbergStep]):
    r"""Removes everything before Project Gutenberg's start mark and after its end mark, and the credits.

    The counts are `header_cut`, `credits_cut` and `footer_cut`. If a document has several books, the text of
    each is kept. A document with no text left is dropped as `only_notices`. A document without marks is not
    changed.

    Example:

    >>> step = Gutenberg(GutenbergStep(kind="gutenberg"))
    >>> text = "*** START OF THE PROJECT GUTENBERG EBOOK MOBY DICK ***\n\nCall me Ishmael.\n"
    >>> step.decide(Document("1", text, "books", "CC0", "a.txt")).document.text
    'Call me Ishmael.'
    """

    reasons = frozenset({"only_notices"})
    changes_text = True

    def decide(self, document: Document) -> Decision:  # noqa: D102
        counts: Counter[str] = Counter()
        text = "\n\n".join(filter(None, self._books(document.text, counts)))
        if not counts:
            return Keep(document)
        return Keep(document.with_text(text), dict(counts)) if text else Drop("only_notices")

    def _books(self, text: str, counts: Counter[str]) -> Iterator[str]:
        # The text before the first mark is a header if that mark is a start, and otherwise a book.
        inside: bool | None = None
        place = 0
        for mark in _MARK.finditer(text):
            ends = mark[1].upper() == "END"
            counts["footer_cut" if ends else "header_cut"] += 1
            if inside or (ends and inside is None):
                yield self._body(text[place : mark.start()], bool(inside), ends, counts)
            inside, place = not ends, mark.end()
        if inside is not False:
            yield self._body(text[place:], bool(inside), False, counts)

    def _body(self, text: str, started: bool, ended: bool, counts: Counter[str]) -> str:
        credits = _CREDITS.match(text) if started and self._config.credits else None
        if credits:
            counts["credits_cut"] += 1
            text = text[credits.end() :]
        farewell = _FAREWELL.search(text, max(len(text) - FAREWELL_CHARACTERS, 0)) if ended else None
        return (text[: farewell.start()] if farewell else text).strip()
