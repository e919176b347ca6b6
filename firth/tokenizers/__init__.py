"""WordPiece: count words, train, save and load; encode and decode in a TensorFlow graph."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firth.tokenizers.counting import count_words
    from firth.tokenizers.storage import TokenizerMismatchError, load_tokenizer, save_tokenizer
    from firth.tokenizers.training import train_wordpiece
    from firth.tokenizers.word_piece import WordPieceTokenizer

__all__ = [
    "TokenizerMismatchError",
    "WordPieceTokenizer",
    "count_words",
    "load_tokenizer",
    "save_tokenizer",
    "train_wordpiece",
]

_HOMES = {
    "TokenizerMismatchError": "storage",
    "WordPieceTokenizer": "word_piece",
    "count_words": "counting",
    "load_tokenizer": "storage",
    "save_tokenizer": "storage",
    "train_wordpiece": "training",
}


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"firth.tokenizers.{_HOMES[name]}"), name)
