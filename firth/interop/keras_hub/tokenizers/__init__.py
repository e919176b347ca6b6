"""KerasHub's tokenizers, read and written."""

from firth.interop.keras_hub.tokenizers.reading import read_tokenizer
from firth.interop.keras_hub.tokenizers.writing import written_tokenizer

__all__ = ["read_tokenizer", "written_tokenizer"]
