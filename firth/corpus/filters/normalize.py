"""One form for all text, and the removal of what no reader sees."""

import re

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.text.unicode_forms import normalize
from firth.recipes.corpus.normalization import Normalization, NormalizeStep

_CONTROL_OR_LINE_END = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


class Normalize(DocumentStep):
    r"""Brings a text to one Unicode form, its lines to `\n`, and removes control characters and margins.

    A document of which nothing remains is dropped as `empty`.

    Example:

    >>> normalize_text("  cafe\u0301\r\n\x00ok ", Normalization())
    'café\nok'
    """

    reasons = frozenset({"empty"})
    changes_text = True

    def __init__(self, config: NormalizeStep):
        self._options = config
        # What is repaired may look damaged once it is in another form.
        self.idempotent = not config.mojibake

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text = normalize_text(document.text, self._options)
        return Drop("empty") if not text or text.isspace() else Keep(document.with_text(text))


def normalize_text(text: str, options: Normalization) -> str:
    """Returns the text as the step `normalize` leaves it, and as the tokenizer reads it, mojibake apart.

    Unicode's forms are those of Python's `unicodedata`. For a character that is newer than the tables of
    Python or of tensorflow-text, the graph may differ.
    """
    if options.mojibake and not text.isascii():
        text = _repair_mojibake(text)
    # Nearly all text has none of what is replaced before the Unicode form.
    if _CONTROL_OR_LINE_END.search(text):
        for pattern, replacement in options.substitutions_before:
            text = re.sub(pattern, replacement, text)
    if not text.isascii():
        text = normalize(options.form, text)
    if options.whitespace == "margins":
        return text.strip()
    for pattern, replacement in options.substitutions_after:
        text = re.sub(pattern, replacement, text)
    return text


def _repair_mojibake(text: str) -> str:
    """Repairs line by line, since one character that the wrong encoding lacks speaks for all of a text."""
    import ftfy
    from ftfy.badness import is_bad

    lines = text.split("\n")
    return "\n".join(
        line if line.isascii() or not is_bad(line) else ftfy.fix_encoding(line) for line in lines
    )
