"""Models of SentencePiece that are made here, for the kernel that tensorflow-text has.

A model is a protocol buffer; where two are written one after the other, their pieces add up.
(https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto)
"""

import enum
import struct
from collections.abc import Collection, Iterable
from typing import NamedTuple

from firth.tokenizers.graph.sentencepiece_proto import ModelProto, parse_model

_BPE = 2
# A trie without entries. Without a trie, the kernel logs a line at each call.
_NO_CHARACTERS = struct.pack("<I", 1024) + bytes(1024)


class PieceType(enum.IntEnum):
    """What a piece is: made of text, unknown text, found in no text, or never taken apart."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def with_sentinels(model: bytes, pieces: Iterable[str]) -> bytes:
    """Returns the model with further pieces at its end, which are never split."""
    more = [{"piece": piece, "score": 0.0, "type": PieceType.USER_DEFINED} for piece in pieces]
    return model + ModelProto(pieces=more).SerializeToString()


class MergingPiece(NamedTuple):
    """A piece of a model that merges.

    Attributes:
        text: Text of the piece.
        rank: Rank; a pair that makes a piece of a lower rank is merged earlier.
        is_special: True for a piece that is never split.
    """

    text: str
    rank: int
    is_special: bool = False


def merging_model(pieces: Iterable[MergingPiece], unknown: str) -> bytes:
    """Returns a model that merges by the ranks of the pieces and leaves text otherwise as it is."""
    model = ModelProto()
    for piece in pieces:
        kind = PieceType.USER_DEFINED if piece.is_special else PieceType.NORMAL
        model.pieces.add(piece=piece.text, score=-float(piece.rank), type=kind)
    model.trainer_spec.model_type, model.trainer_spec.unk_id = _BPE, len(model.pieces)
    model.pieces.add(piece=unknown, score=0.0, type=PieceType.UNKNOWN)
    return _with_identity(model.SerializeToString(), escaped=False)


def _with_identity(model: bytes, escaped: bool) -> bytes:
    """Returns the model with a normalisation that keeps all text; its fields replace those of one before."""
    identity = {
        "name": "identity",
        "precompiled_charsmap": _NO_CHARACTERS,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "escape_whitespaces": escaped,
    }
    return model + ModelProto(normalizer_spec=identity).SerializeToString()


def without_normalization(model: bytes) -> bytes:
    """Returns the model for text in its final form, of which only spaces are replaced."""
    return _with_identity(model, escaped=True)


def unknown_piece(model: bytes) -> str:
    """Returns the piece for unknown text; empty if there is no such piece."""
    pieces = parse_model(model).pieces
    return next((str(piece.piece) for piece in pieces if piece.type == PieceType.UNKNOWN), "")


def without_pieces(model: bytes, pieces: Collection[str]) -> bytes:
    """Returns the model with some pieces that no text becomes any more; all ids stay."""
    made = parse_model(model)
    for piece in made.pieces:
        if piece.piece in pieces and piece.type in (PieceType.NORMAL, PieceType.USER_DEFINED):
            piece.type = PieceType.UNUSED
    return bytes(made.SerializeToString())
