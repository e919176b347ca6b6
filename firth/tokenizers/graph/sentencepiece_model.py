"""Models of SentencePiece that are made here, for the kernel that tensorflow-text has.

A model is a protocol buffer; where two are written one after the other, their pieces add up.
(https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto)
"""

import enum
import hashlib
import pathlib
import struct
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import tensorflow as tf
from google.protobuf import descriptor_pb2, message_factory, text_format
from google.protobuf.message import DecodeError

# `tf_text.SentencepieceTokenizer` does not give the kernel a shared name.
from tensorflow_text.python.ops.sentencepiece_tokenizer import gen_sentencepiece_tokenizer as kernel_ops

_BPE = 2
# A trie without entries. Without a trie, the kernel logs a line at each call.
_NO_CHARACTERS = struct.pack("<I", 1024) + bytes(1024)


class PieceType(enum.IntEnum):
    """Kind of a piece: made of text, unknown text, found in no text, or never taken apart."""

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


# The package in C++ looks pieces up by a function that calls itself for each byte, and ends the process of a
# longer one. Trained pieces have 16 characters.
LONGEST_PIECE = 4096
_SCHEMA = pathlib.Path(__file__).with_name("sentencepiece_model.textproto").read_text(encoding="utf-8")
_FILE = text_format.Parse(_SCHEMA, descriptor_pb2.FileDescriptorProto())
ModelProto: Any = message_factory.GetMessages([_FILE])["firth.sentencepiece.ModelProto"]
"""A message with the fields and the bytes of a model of SentencePiece."""


def parse_model(model: bytes) -> Any:
    """Returns a model as a `ModelProto`.

    Example:

    >>> parse_model(b"").trainer_spec.unk_piece
    '<unk>'
    """
    try:
        parsed = ModelProto.FromString(model)
    except DecodeError as error:
        raise ValueError(f"the bytes are not a model of SentencePiece: {error}") from error
    for index, piece in enumerate(parsed.pieces):
        if len(piece.piece.encode()) > LONGEST_PIECE:
            raise ValueError(
                f"pieces[{index}]: {piece.piece[:10]!r} and so on has more than {LONGEST_PIECE} bytes"
            )
    return parsed


class _SharedModel(tf.saved_model.experimental.TrackableResource):
    """The model in TensorFlow's memory, under a name that follows from its bytes.

    Without a shared name the model belongs to the operation that read it, and `tf.random.set_seed`, which
    `keras.utils.set_random_seed` calls, drops all operations. A loaded graph finds its models by these
    names too, so that two models need two names.
    """

    def __init__(self, model: bytes) -> None:
        super().__init__(device="CPU")
        self._model = model
        self._name = f"sentencepiece_{hashlib.sha256(model).hexdigest()[:16]}"

    def _create_resource(self) -> tf.Tensor:
        return kernel_ops.sentencepiece_op(model=self._model, shared_name=self._name, name=self._name)


class ModelKernel(tf.Module):
    """Text to pieces, or to their ids, as a model of SentencePiece reads it.

    Args:
        out_type: Type of what `tokenize` returns: ids (`tf.int32`) or pieces (`tf.string`).

    Raises:
        tf.errors.InternalError: if the bytes are not a model.
    """

    def __init__(self, model: bytes, out_type: tf.DType = tf.int32) -> None:
        super().__init__()
        self._out_type = out_type
        with tf.init_scope():
            self._shared = _SharedModel(model)
            # Made at once, outside of any graph.
            _ = self._shared.resource_handle

    def tokenize(self, text: Any) -> tf.RaggedTensor:
        """Returns the pieces or ids of texts, [batch, (pieces)], with int64 row splits.

        Args:
            text: string [batch].
        """
        settings = {"nbest_size": 0, "alpha": 1.0, "add_bos": False, "add_eos": False, "reverse": False}
        values, splits = kernel_ops.sentencepiece_tokenize_op(
            self._shared.resource_handle, text, out_type=self._out_type, **settings
        )
        return tf.RaggedTensor.from_row_splits(values, splits, validate=False)

    def string_to_id(self, pieces: Any) -> tf.Tensor:
        """Returns the ids of pieces, int32 of the same shape."""
        return kernel_ops.sentencepiece_string_to_id_op(self._shared.resource_handle, pieces)
