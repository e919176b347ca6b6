"""Tokenizers: count words, train, save and load; encode and decode in a TensorFlow graph."""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.tokenizers.byte_pair import BytePairTokenizer
    from firth.tokenizers.sentence_piece import SentencePieceTokenizer
    from firth.tokenizers.storage import TokenizerMismatchError, load_tokenizer, save_tokenizer
    from firth.tokenizers.training.byte_pair import train_byte_pairs
    from firth.tokenizers.training.counting import count_byte_words, count_spaced_words, count_words
    from firth.tokenizers.training.sentence_piece import train_sentencepiece
    from firth.tokenizers.training.word_piece import train_wordpiece
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
    "count_byte_words": "training.counting",
    "count_spaced_words": "training.counting",
    "count_words": "training.counting",
    "load_tokenizer": "storage",
    "save_tokenizer": "storage",
    "train_byte_pairs": "training.byte_pair",
    "train_sentencepiece": "training.sentence_piece",
    "train_wordpiece": "training.word_piece",
}

__getattr__ = lazy_names(__name__, _HOMES)
