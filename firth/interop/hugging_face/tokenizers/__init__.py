"""Tokenizers in Hugging Face's formats: a file for each kind, which a table brings together."""

from firth.interop.hugging_face.tokenizers.formats import read_chat_template, read_tokenizer, write_tokenizer
from firth.interop.hugging_face.tokenizers.framing import frame_notes, published_end, read_as_published

__all__ = [
    "frame_notes",
    "published_end",
    "read_as_published",
    "read_chat_template",
    "read_tokenizer",
    "write_tokenizer",
]
