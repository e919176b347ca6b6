"""KerasHub's tokenizers, read and written."""

from firth.interop.keras_hub.tokenizers.reading import read_tokenizer
from firth.interop.keras_hub.tokenizers.writing import tokenizer_to_write, written_tokenizer

__all__ = ["read_tokenizer", "tokenizer_to_write", "written_tokenizer"]
