"""Pieces of bytes, in GPT-2's printable characters, and their merges.

A vocabulary in the order of its merges implies them. One in another order, such as RoBERTa's, which is
sorted by frequency, has a list of them.
"""

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

_PRINTABLE = (*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1))
# The characters of the other bytes start here, in the order of the bytes.
_FIRST_STAND_IN = 0x100


@functools.lru_cache(maxsize=1)
def _written() -> dict[int, str]:
    others = (byte for byte in range(256) if byte not in _PRINTABLE)
    stand_ins = {byte: chr(_FIRST_STAND_IN + index) for index, byte in enumerate(others)}
    return {byte: chr(byte) for byte in _PRINTABLE} | stand_ins


@functools.lru_cache(maxsize=1)
def _read() -> dict[str, int]:
    return {character: byte for byte, character in _written().items()}


def byte_pieces() -> list[str]:
    """Returns the pieces of one byte in GPT-2's order: the printable ones, then the others.

    Example:

    >>> byte_pieces()[:3], len(byte_pieces())
    (['!', '"', '#'], 256)
    """
    return list(_written().values())


def to_piece(data: bytes) -> str:
    r"""Returns bytes as a vocabulary writes them.

    Example:

    >>> to_piece(b" caf\xc3\xa9")
    'ĠcafÃ©'
    """
    return "".join(map(_written().__getitem__, data))


def to_bytes(piece: str) -> bytes:
    r"""Returns the bytes of a piece of a vocabulary.

    Example:

    >>> to_bytes("Ġfox")
    b' fox'
    """
    try:
        return bytes(map(_read().__getitem__, piece))
    except KeyError as error:
        raise ValueError(f"the piece {piece!r} holds {error}, which is not the character of a byte") from None


Pair = tuple[str, str]


class MergeError(ValueError):
    """A merge that does not fit the vocabulary."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(f"merge {index + 1}: {reason}")
        self.index, self.reason = index, reason


def read_merges(merges: Sequence[str], pieces: Collection[str]) -> list[Pair]:
    """Returns the two parts of each merge, checked.

    Example:

    >>> read_merges(["Ġ f", "Ġf o"], {*byte_pieces(), "Ġf", "Ġfo"})
    [('Ġ', 'f'), ('Ġf', 'o')]
    """
    made: dict[str, int] = dict.fromkeys(byte_pieces(), -1)
    found: list[Pair] = []
    for index, merge in enumerate(merges):
        parts = merge.split(" ")
        if len(parts) != 2 or not all(parts):
            raise MergeError(index, f"{merge!r} is not two pieces with a space between")
        pair = (parts[0], parts[1])
        for piece in (*pair, "".join(pair)):
            if piece not in pieces:
                raise MergeError(index, f"{merge!r}: {piece!r} is not in the vocabulary")
        for piece in pair:
            if piece not in made:
                raise MergeError(index, f"{merge!r}: {piece!r} is made by no merge before")
        if (before := made.setdefault("".join(pair), index)) != index:
            raise MergeError(index, f"{merge!r}: {''.join(pair)!r} is made by merge {before + 1} too")
        found.append(pair)
    return found


def ranks_of(merges: Sequence[Pair]) -> dict[str, int]:
    """Returns the rank of each piece that merges make, by piece.

    Left out are pieces that never come about, because a part of theirs is always merged with a neighbour
    first. A piece that does comes about from one pair alone, whatever is around it: within its bytes, the
    same merges happen as if they were alone. So the ranks are equivalent to the merges.

    Example: of `abc`, `b c` is merged first, so that `abc` is never made of `ab c`.

    >>> ranks_of([("b", "c"), ("a", "b"), ("ab", "c"), ("ab", "d")])
    {'bc': 0, 'ab': 1, 'abd': 3}
    """
    rank_of_pair = {pair: rank for rank, pair in enumerate(merges)}
    ranks, parts = dict[str, int](), dict[str, Pair]()
    for rank, pair in enumerate(merges):
        piece = "".join(pair)
        known = all(len(part) == 1 or part in ranks for part in pair)
        if known and not _is_split(pair, rank, rank_of_pair, ranks, parts):
            ranks[piece], parts[piece] = rank, pair
    return ranks


def _is_split(
    pair: Pair,
    rank: int,
    rank_of_pair: Mapping[Pair, int],
    ranks: Mapping[str, int],
    parts: Mapping[str, Pair],
) -> bool:
    """Returns whether a merge across the bound of the two parts comes before both are whole."""
    lefts, rights = (list(_edge(pair[side], 1 - side, rank, ranks, parts)) for side in (0, 1))
    for (left, left_end), (right, right_end) in itertools.product(lefts, rights):
        crossing = rank_of_pair.get((left, right), rank)
        # The left one of two places of a pair is merged first.
        if crossing < left_end and crossing <= right_end and (left, right) != pair:
            return True
    return False


def _edge(
    piece: str, side: int, rank: int, ranks: Mapping[str, int], parts: Mapping[str, Pair]
) -> Iterator[tuple[str, int]]:
    """Yields the pieces at a side of a piece while it is made, each with the rank of its end."""
    yield piece, rank
    while piece in parts:
        piece, rank = parts[piece][side], ranks[piece]
        yield piece, rank


def merges_by_order(pieces: Sequence[str]) -> list[Pair]:
    """Returns the merges of a vocabulary that is in the order of its merges.

    Example:

    >>> merges_by_order(["l", "o", "w", "ow", "low"])
    [('o', 'w'), ('l', 'ow')]
    """
    order = {piece: place for place, piece in enumerate(pieces)}
    halves = ((piece, _halves(piece, order)) for piece in pieces if len(piece) > 1)
    return [(parts[0], parts[1]) for piece, parts in halves if len(parts) == 2]


def _halves(piece: str, order: Mapping[str, int]) -> list[str]:
    """Returns the two parts of a piece's last merge; more than two if it is never made."""
    parts = list(piece)
    while len(parts) > 2:
        pairs = (("".join(pair), place) for place, pair in enumerate(itertools.pairwise(parts)))
        found = min(((order[joined], place) for joined, place in pairs if joined in order), default=None)
        if found is None:
            return parts
        place = found[1]
        parts[place : place + 2] = ["".join(parts[place : place + 2])]
    return parts
