"""The special tokens around a text that a model reads."""

from typing import NamedTuple

# The segment of XLNet's `[CLS]`, next to 0 and 1 of the two parts of a document.
CLS_SEGMENT = 2


class TextFrame(NamedTuple):
    """The special tokens around a text, each by its role: `cls` is the tokenizer's `cls_id`.

    Attributes:
        before: The tokens in front of the text.
        after: The tokens after the text.
        last_segment: The segment of the last token; None if it is the text's own.
    """

    before: tuple[str, ...] = ("cls",)
    after: tuple[str, ...] = ("sep",)
    last_segment: int | None = None
