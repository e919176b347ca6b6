"""A checked vocabulary: pieces by id, ids by piece, and the marks of pieces."""

import dataclasses
import difflib
import re
from collections.abc import Sequence

from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES, SpecialPieces

# The start of pieces inside a word.
SUFFIX_MARK = "##"
# SentencePiece's space.
META_SPACE = "\u2581"
# Their numbers have four digits at most, so that each is as short as a special piece while in the kernel.
MOST_SENTINELS = 10_000
_SENTINEL = re.compile(r"<extra_id_\d+>")


def sentinel_pieces(count: int) -> list[str]:
    """Returns the sentinels in the order in which they end a vocabulary: the last one is number 0.

    Example:

    >>> sentinel_pieces(3)
    ['<extra_id_2>', '<extra_id_1>', '<extra_id_0>']
    """
    return [f"<extra_id_{number}>" for number in reversed(range(count))]


def is_sentinel(piece: str) -> bool:
    """Returns whether a piece is `<extra_id_N>`."""
    return _SENTINEL.fullmatch(piece) is not None


def count_sentinels(pieces: Sequence[str]) -> int:
    """Returns the number of sentinels at the end of a vocabulary."""
    count = sum(map(is_sentinel, pieces))
    if count and (list(pieces[-count:]) != sentinel_pieces(count) or count > MOST_SENTINELS):
        raise ValueError(
            f"the vocabulary has {count} sentinels; expected at most {MOST_SENTINELS}, and its last pieces "
            f"to be <extra_id_{count - 1}> down to <extra_id_0>"
        )
    return count


def check_pieces(pieces: Sequence[str]) -> dict[str, int]:
    """Returns the id of each piece, which is its place, counted from 0."""
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
        pieces: Pieces, all of them.
        ids: Ids by piece.
        specials: Special pieces by their roles.
        sentinels: Number of sentinels at the end of the pieces.
    """

    pieces: tuple[str, ...]
    ids: dict[str, int]
    specials: SpecialPieces
    sentinels: int = 0

    @classmethod
    def of(cls, pieces: Sequence[str], specials: SpecialPieces | None = None) -> "Vocabulary":
        """Returns the vocabulary of these pieces.

        Raises:
            ValueError: if a piece is empty, holds a line break, or occurs twice, or a special piece is
                missing, or sentinels are not at the end in descending order. The message names the id, which
                is also the line of `vocab.txt`, counted from 0.

        Example:

        >>> Vocabulary.of(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fox"]).ids["fox"]
        5
        """
        ids = check_pieces(pieces)
        specials = specials or SpecialPieces()
        missing = [special for special in specials.pieces if special not in ids]
        if missing:
            raise ValueError(
                f"the vocabulary has no {', '.join(missing)}; a tokenizer needs all its special pieces"
            )
        return cls(tuple(pieces), ids, specials, count_sentinels(pieces))

    @property
    def special_pieces(self) -> tuple[str, ...]:
        """The special pieces, those with a role first, and the sentinels from number 0 on after them."""
        return (*self.specials.pieces, *reversed(sentinel_pieces(self.sentinels)))

    @property
    def alone(self) -> list[str]:
        """The special pieces that include no space before them."""
        return [piece for piece in self.special_pieces if piece not in self.after_space]

    @property
    def after_space(self) -> list[str]:
        """The special pieces that include a space before them."""
        if self.specials.spaces_before == "none":
            return []
        return [*filter(None, [self.specials.mask]), *sentinel_pieces(self.sentinels)]

    def check_special(self, names: Sequence[str]) -> tuple[str, ...]:
        """Returns names of special pieces."""
        known = self.special_pieces if names else ()
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
                raise ValueError(
                    f"special_texts: {name!r} is not a special piece; the nearest one is {near!r}"
                )
        return tuple(names)

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece."""
        if piece not in self.ids:
            near = difflib.get_close_matches(piece, self.pieces, n=1, cutoff=0.0)
            raise ValueError(f"{piece!r} is not in the vocabulary; the nearest piece is {near[0]!r}")
        return self.ids[piece]

    def piece_of(self, index: int) -> str:
        """Returns the piece of an id."""
        if not 0 <= index < len(self.pieces):
            raise ValueError(f"id {index} is out of range; ids go from 0 to {len(self.pieces) - 1}")
        return self.pieces[index]


def mark_suffix(piece: str, text: str) -> str:
    """Returns a piece without its first space, or else with `##` before it; special pieces as they are.

    Example:

    >>> [mark_suffix(piece, piece) for piece in (" fox", "es", "[MASK]")]
    ['fox', '##es', '[MASK]']
    """
    if piece in SPECIAL_PIECES or is_sentinel(piece):
        return piece
    return text[1:] if text.startswith(" ") else SUFFIX_MARK + text
