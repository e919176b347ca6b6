"""Models of SentencePiece written byte by byte, for the kernel that tensorflow-text has.

A model is a protocol buffer; where two are written one after the other, their pieces add up.
(https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto)
"""

import enum
import hashlib
import struct
from collections.abc import Iterable
from typing import NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

# Wire types, and the fields of the model and its parts.
_VARINT, _BYTES, _FLOAT = 0, 2, 5
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_MODEL_TYPE, _UNK_ID = 3, 40
_NAME, _CHARACTERS_MAP, _SPACE_FIELDS = 1, 2, (3, 4, 5)
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


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def piece_message(piece: str, score: float, kind: PieceType) -> bytes:
    """Returns a model of one piece, as bytes of its protocol buffer.

    Args:
        piece: Text of the piece.
        score: Score. A pair that makes a piece of a higher score is merged earlier.
        kind: Type of the piece.
    """
    score_field = _varint(2 << 3 | _FLOAT) + struct.pack("<f", score)
    return _bytes(_PIECES, _bytes(1, piece.encode()) + score_field + _integer(3, kind))


def with_sentinels(model: bytes, pieces: Iterable[str]) -> bytes:
    """Returns the model with further pieces at its end, which are never split.

    Args:
        model: Bytes of a model.
        pieces: Sentinels, the one with the lowest id first.
    """
    return model + b"".join(piece_message(piece, 0.0, PieceType.USER_DEFINED) for piece in pieces)


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
    """Returns a model that merges by the ranks of the pieces and leaves text otherwise as it is.

    Args:
        pieces: Pieces by id.
        unknown: Piece for unknown text, which the format requires; it becomes the last piece.
    """
    messages = [
        piece_message(
            piece.text, -float(piece.rank), PieceType.USER_DEFINED if piece.is_special else PieceType.NORMAL
        )
        for piece in pieces
    ]
    trainer = _integer(_MODEL_TYPE, _BPE) + _integer(_UNK_ID, len(messages))
    messages.append(piece_message(unknown, 0.0, PieceType.UNKNOWN))
    return _with_identity(b"".join(messages) + _bytes(_TRAINER, trainer), escaped=False)


def _with_identity(model: bytes, escaped: bool) -> bytes:
    """Returns the model with a normalisation that keeps all text; its fields replace those of one before."""
    normalizer = [_bytes(_NAME, b"identity"), _bytes(_CHARACTERS_MAP, _NO_CHARACTERS)]
    normalizer += [_integer(field, value) for field, value in zip(_SPACE_FIELDS, (False, False, escaped))]
    return model + _bytes(_NORMALIZER, b"".join(normalizer))


def kernel_of(model: bytes, out_type: tf.DType = tf.int32) -> tf_text.SentencepieceTokenizer:
    """Returns the kernel that reads a model.

    A loaded graph finds a kernel by its name, so it is named after the model: two would be one otherwise.

    Args:
        model: Bytes of a model.
        out_type: What the kernel returns: ids (`tf.int32`) or pieces (`tf.string`).
    """
    with tf.init_scope(), tf.device("CPU"):
        name = f"sentencepiece_{hashlib.sha256(model).hexdigest()[:16]}"
        return tf_text.SentencepieceTokenizer(model, out_type=out_type, name=name)


def without_normalization(model: bytes) -> bytes:
    """Returns the model for text in its final form, of which only spaces are replaced.

    Args:
        model: Bytes of a model.
    """
    return _with_identity(model, escaped=True)
