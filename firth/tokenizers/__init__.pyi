from .byte_pair import BytePairTokenizer as BytePairTokenizer
from .sentence_piece import SentencePieceTokenizer as SentencePieceTokenizer
from .storage import (
    TokenizerMismatchError as TokenizerMismatchError,
    load_tokenizer as load_tokenizer,
    save_tokenizer as save_tokenizer,
)
from .training.byte_pair import train_byte_pairs as train_byte_pairs
from .training.counting import (
    count_byte_words as count_byte_words,
    count_spaced_words as count_spaced_words,
    count_words as count_words,
)
from .training.sentence_piece import train_sentencepiece as train_sentencepiece
from .training.word_piece import train_wordpiece as train_wordpiece
from .word import WordTokenizer as WordTokenizer, build_word_vocabulary as build_word_vocabulary
from .word_piece import WordPieceTokenizer as WordPieceTokenizer
