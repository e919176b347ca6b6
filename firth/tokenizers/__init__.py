"""Tokenizers: count words, train, save and load; encode and decode in a TensorFlow graph."""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.tokenizers.byte_pair import BytePairTokenizer
    from firth.tokenizers.byte_pair_training import train_byte_pairs
    from firth.tokenizers.counting import count_byte_words, count_spaced_words, count_words
    from firth.tokenizers.sentence_piece import SentencePieceTokenizer
    from firth.tokenizers.sentence_piece_training import train_sentencepiece
    from firth.tokenizers.storage import TokenizerMismatchError, load_tokenizer, save_tokenizer
    from firth.tokenizers.training import train_wordpiece
    from firth.tokenizers.word import WordTokenizer, build_word_vocabulary
    from firth.tokenizers.word_piece import WordPieceTokenizer

__all__ = [
    "BytePairTokenizer",
    "SentencePieceTokenizer",
    "TokenizerMismatchError",
    "WordPieceTokenizer",
    "WordTokenizer",
    "build_word_vocabulary",
    "count_byte_words",
    "count_spaced_words",
    "count_words",
    "load_tokenizer",
    "save_tokenizer",
    "train_byte_pairs",
    "train_sentencepiece",
    "train_wordpiece",
]

_HOMES = {
    "BytePairTokenizer": "byte_pair",
    "SentencePieceTokenizer": "sentence_piece",
    "TokenizerMismatchError": "storage",
    "WordPieceTokenizer": "word_piece",
    "WordTokenizer": "word",
    "build_word_vocabulary": "word",
    "count_byte_words": "counting",
    "count_spaced_words": "counting",
    "count_words": "counting",
    "load_tokenizer": "storage",
    "save_tokenizer": "storage",
    "train_byte_pairs": "byte_pair_training",
    "train_sentencepiece": "sentence_piece_training",
    "train_wordpiece": "training",
}

__getattr__ = lazy_names(__name__, _HOMES)
