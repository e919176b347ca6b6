"""Pieces as WordPiece writes them, for people to read."""

from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK, is_sentinel

META_SPACE = "\u2581"


def marked_suffix(piece: str, text: str) -> str:
    """Returns a piece without its first space, or else with `##` before it; special pieces as they are.

    Example:

    >>> [marked_suffix(piece, piece) for piece in (" fox", "es", "[MASK]")]
    ['fox', '##es', '[MASK]']
    """
    if piece in SPECIAL_PIECES or is_sentinel(piece):
        return piece
    return text[1:] if text.startswith(" ") else SUFFIX_MARK + text
