"""KerasHub's tokenizers, read and written."""

from firth.interop.keras_hub.tokenizers.tokenizer_classes import (
    read_tokenizer,
    reading_notes,
    tokenizer_to_write,
    written_tokenizer,
)

__all__ = ["read_tokenizer", "reading_notes", "tokenizer_to_write", "written_tokenizer"]
