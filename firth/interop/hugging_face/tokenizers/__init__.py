"""Tokenizers in Hugging Face's formats: a file for each kind, which a table brings together."""

from firth.interop.hugging_face.tokenizers.reading import read_tokenizer
from firth.interop.hugging_face.tokenizers.writing import write_tokenizer

__all__ = ["read_tokenizer", "write_tokenizer"]
