"""Pieces of every kind in WordPiece's notation, for readers."""

from firth.tokenizers.graph.byte_pieces import to_bytes
from firth.tokenizers.graph.vocabulary import SPECIAL_PIECES, SUFFIX_MARK, is_sentinel

META_SPACE = "\u2581"


def as_word_piece(piece: str, kind: str) -> str:
    """Returns a piece in WordPiece's notation: without the space before it, or after `##` if it has none.

    Args:
        piece: Piece as the vocabulary holds it.
        kind: Kind of the tokenizer.

    Example:

    >>> [as_word_piece(piece, "bpe") for piece in ("Ġfox", "es", "[MASK]")]
    ['fox', '##es', '[MASK]']
    >>> as_word_piece("▁fox", "sentencepiece")
    'fox'
    """
    if kind not in ("bpe", "sentencepiece") or piece in SPECIAL_PIECES or is_sentinel(piece):
        return piece
    text = to_bytes(piece).decode(errors="replace") if kind == "bpe" else piece.replace(META_SPACE, " ")
    return text[1:] if text.startswith(" ") else SUFFIX_MARK + text
