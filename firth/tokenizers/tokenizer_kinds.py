"""The kinds of tokenizer, by their name in a recipe and on disk."""

from typing import Any

from firth.tokenizers.byte_pair import BytePairTokenizer
from firth.tokenizers.sentence_piece import SentencePieceTokenizer
from firth.tokenizers.word import WordTokenizer
from firth.tokenizers.word_piece import WordPieceTokenizer

TOKENIZERS: dict[str, Any] = {
    "wordpiece": WordPieceTokenizer,
    "bpe": BytePairTokenizer,
    "sentencepiece": SentencePieceTokenizer,
    "words": WordTokenizer,
}
