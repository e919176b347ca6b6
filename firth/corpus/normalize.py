"""Unicode normalisation and the removal of what no reader sees."""

import re
import unicodedata

from firth.corpus.document import Document
from firth.corpus.steps import Decision, DocumentStep, Drop, Keep
from firth.recipes.cleaning import NormalizeStep

_LINE_ENDINGS = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]")


class Normalize(DocumentStep):
    r"""Brings a text to one Unicode form, its lines to `\n`, and removes control characters and margins.

    Tabs stay. A document of which nothing remains is dropped as `empty`.

    Example:

    >>> normalize_text("  cafe\u0301\r\n\x00ok ", "NFC")
    'café\nok'
    """

    reasons = frozenset({"empty"})
    changes_text = True

    def __init__(self, config: NormalizeStep):
        self._form = config.form

    def decide(self, document: Document) -> Decision:  # noqa: D102
        text = normalize_text(document.text, self._form)
        if not text:
            return Drop("empty")
        if text == document.text:
            return Keep(document)
        return Keep(Document(document.id, text, document.source, document.licence, document.uri))


def normalize_text(text: str, form: str) -> str:
    """Returns the text as the step `normalize` leaves it.

    Args:
        text: Any text.
        form: "NFC" or "NFKC".
    """
    if not text.isascii():
        text = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    text = _LINE_ENDINGS.sub("\n", text)
    return _INVISIBLE.sub("", text).strip()
