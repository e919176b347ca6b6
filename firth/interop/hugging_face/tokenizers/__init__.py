"""Tokenizers in Hugging Face's formats: a file for each kind, which a table brings together."""

from firth.interop.hugging_face.tokenizers.chat_templates import read_chat_template
from firth.interop.hugging_face.tokenizers.published_frames import frame_notes, read_as_published
from firth.interop.hugging_face.tokenizers.reading import read_tokenizer
from firth.interop.hugging_face.tokenizers.writing import write_tokenizer

__all__ = ["frame_notes", "read_as_published", "read_chat_template", "read_tokenizer", "write_tokenizer"]
