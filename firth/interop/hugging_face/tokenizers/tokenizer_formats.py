"""The formats of tokenizers."""

from firth.interop.hugging_face.tokenizers import byte_pair, sentence_piece, word_piece
from firth.interop.hugging_face.tokenizers.format import TokenizerFormat

# Formats may share a type of model: the first that fits is taken.
FORMATS: tuple[TokenizerFormat, ...] = (word_piece.FORMAT, byte_pair.FORMAT, *sentence_piece.FORMATS)
