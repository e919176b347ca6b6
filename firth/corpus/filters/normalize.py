"""The step that brings text to one Unicode form and removes characters that are not displayed."""

import re

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, DocumentStep, Drop, Keep
from firth.corpus.text.comparable_text import Form, normalize
from firth.recipes.corpus.normalization import Normalization, NormalizeStep
from firth.tokenizers.graph.characters import is_after_unicode_9

_CONTROL_OR_LINE_END = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


class Normalize(DocumentStep[NormalizeStep]):
    r"""Brings text to a Unicode normal form and line ends to `\n`, and removes control characters.

    White space at both ends of the text is removed too, unless `config` keeps it. A document with no text
    left is dropped as `empty`.

    Example:

    >>> normalize_text("  cafe\u0301\r\n\x00ok ", Normalization())
    'café\nok'
    """

    reasons = frozenset({"empty"})
    changes_text = True

    def __init__(self, config: NormalizeStep) -> None:
        super().__init__(config)
        # A repaired text may look damaged again after normalization.
        self.idempotent = not config.mojibake

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text = normalize_text(document.text, self._config)
        return Drop("empty") if not text or text.isspace() else Keep(document.with_text(text))


def normalize_text(text: str, options: Normalization) -> str:
    """Returns the text as the step `normalize` leaves it.

    The tokenizers do the same in the TensorFlow graph, apart from the repair of wrongly decoded text. Both
    keep a character that is younger than Unicode 9.0 as it is, since published tokenizers do.
    """
    if options.mojibake and not text.isascii():
        text = _repair_mojibake(text)
    # Nearly all texts have none of the characters that are replaced before normalization.
    if _CONTROL_OR_LINE_END.search(text):
        for pattern, replacement in options.substitutions_before:
            text = re.sub(pattern, replacement, text)
    if not text.isascii():
        text = _in_form(options.form, text)
    if options.whitespace == "margins":
        return text.strip()
    for pattern, replacement in options.substitutions_after:
        text = re.sub(pattern, replacement, text)
    return text


def _in_form(form: Form, text: str) -> str:
    younger = "".join(each for each in set(text) if is_after_unicode_9(each))
    if not younger:
        return normalize(form, text)
    parts = re.split(f"([{re.escape(younger)}]+)", text)
    return "".join(part if place % 2 else normalize(form, part) for place, part in enumerate(parts))


def _repair_mojibake(text: str) -> str:
    """Repairs line by line: a single character that the wrong encoding lacks would exclude the whole text."""
    import ftfy
    from ftfy.badness import is_bad

    lines = text.split("\n")
    return "\n".join(
        line if line.isascii() or not is_bad(line) else ftfy.fix_encoding(line) for line in lines
    )
