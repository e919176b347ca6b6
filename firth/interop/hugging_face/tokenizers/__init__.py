"""Tokenizers in Hugging Face's formats: a file for each kind, which a table brings together."""

from firth.interop.hugging_face.tokenizers.framing import FRAMINGS, Framing
from firth.interop.hugging_face.tokenizers.reading import read_tokenizer

__all__ = ["FRAMINGS", "Framing", "read_tokenizer"]
