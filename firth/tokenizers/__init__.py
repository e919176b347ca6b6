"""Tokenizers: count words, train, save and load; encode and decode in a TensorFlow graph."""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.tokenizers.counting import count_words
    from firth.tokenizers.storage import TokenizerMismatchError, load_tokenizer, save_tokenizer
    from firth.tokenizers.training import train_wordpiece
    from firth.tokenizers.word import WordTokenizer, build_word_vocabulary
    from firth.tokenizers.word_piece import WordPieceTokenizer

__all__ = [
    "TokenizerMismatchError",
    "WordPieceTokenizer",
    "WordTokenizer",
    "build_word_vocabulary",
    "count_words",
    "load_tokenizer",
    "save_tokenizer",
    "train_wordpiece",
]

_HOMES = {
    "TokenizerMismatchError": "storage",
    "WordPieceTokenizer": "word_piece",
    "WordTokenizer": "word",
    "build_word_vocabulary": "word",
    "count_words": "counting",
    "load_tokenizer": "storage",
    "save_tokenizer": "storage",
    "train_wordpiece": "training",
}

__getattr__ = lazy_names(__name__, _HOMES)
