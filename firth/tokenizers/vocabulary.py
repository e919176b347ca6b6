"""A checked vocabulary: pieces by id, and ids by piece."""

import dataclasses
import difflib
from collections.abc import Sequence

PAD, UNK, CLS, SEP, MASK = SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# What pieces that go on inside a word start with.
SUFFIX_MARK = "##"


def check_pieces(pieces: Sequence[str]) -> dict[str, int]:
    """Returns the id of each piece, which is its place, counted from 0.

    Raises:
        ValueError: if a piece is empty, holds a line break, or occurs twice.
    """
    ids: dict[str, int] = {}
    for index, piece in enumerate(pieces):
        if not isinstance(piece, str) or not piece or "\n" in piece or "\r" in piece:
            raise ValueError(
                f"piece {index} of the vocabulary is {piece!r}; expected a string without line breaks"
            )
        if piece in ids:
            raise ValueError(f"piece {index} of the vocabulary is {piece!r}, as is piece {ids[piece]}")
        ids[piece] = index
    return ids


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Pieces in the order of their ids.

    Attributes:
        pieces: All pieces.
        ids: The id of each.
    """

    pieces: tuple[str, ...]
    ids: dict[str, int]

    @classmethod
    def of(cls, pieces: Sequence[str]) -> "Vocabulary":
        """Returns the vocabulary of these pieces.

        Raises:
            ValueError: if a piece is empty, holds a line break, or occurs twice, or a special piece is
                missing. The message names the id, which is also the line of `vocab.txt`, counted from 0.

        Example:

        >>> Vocabulary.of(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fox"]).ids["fox"]
        5
        """
        ids = check_pieces(pieces)
        missing = [special for special in SPECIAL_PIECES if special not in ids]
        if missing:
            raise ValueError(
                f"the vocabulary has no {', '.join(missing)}; a tokenizer needs all five special pieces"
            )
        return cls(tuple(pieces), ids)

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece.

        Raises:
            ValueError: if there is none, with the nearest piece.
        """
        if piece not in self.ids:
            near = difflib.get_close_matches(piece, self.pieces, n=1, cutoff=0.0)
            raise ValueError(f"{piece!r} is not in the vocabulary; the nearest piece is {near[0]!r}")
        return self.ids[piece]

    def piece_of(self, index: int) -> str:
        """Returns the piece of an id.

        Raises:
            ValueError: if the id is out of range.
        """
        if not 0 <= index < len(self.pieces):
            raise ValueError(f"id {index} is out of range; ids go from 0 to {len(self.pieces) - 1}")
        return self.pieces[index]
