"""Models of SentencePiece that are made here, for the kernel that tensorflow-text has.

A model is a protocol buffer; where two are written one after the other, their pieces add up.
(https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto)
"""

import enum
import hashlib
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


# The fields of sentencepiece_model.proto that are read here; others are kept as they are. An enumeration is
# the same on the wire as its number.
_FILE = """
    name: "firth/sentencepiece_model.proto"  package: "firth.sentencepiece"  syntax: "proto2"
    message_type {
      name: "TrainerSpec"
      field { name: "model_type" number: 3 type: TYPE_INT32 default_value: "1" }
      field { name: "vocab_size" number: 4 type: TYPE_INT32 default_value: "8000" }
      field { name: "treat_whitespace_as_suffix" number: 24 type: TYPE_BOOL }
      field { name: "byte_fallback" number: 35 type: TYPE_BOOL }
      field { name: "unk_id" number: 40 type: TYPE_INT32 default_value: "0" }
      field { name: "bos_id" number: 41 type: TYPE_INT32 default_value: "1" }
      field { name: "eos_id" number: 42 type: TYPE_INT32 default_value: "2" }
      field { name: "pad_id" number: 43 type: TYPE_INT32 default_value: "-1" }
      field { name: "unk_piece" number: 45 type: TYPE_STRING default_value: "<unk>" }
    }
    message_type {
      name: "NormalizerSpec"
      field { name: "name" number: 1 type: TYPE_STRING }
      field { name: "precompiled_charsmap" number: 2 type: TYPE_BYTES }
      field { name: "add_dummy_prefix" number: 3 type: TYPE_BOOL default_value: "true" }
      field { name: "remove_extra_whitespaces" number: 4 type: TYPE_BOOL default_value: "true" }
      field { name: "escape_whitespaces" number: 5 type: TYPE_BOOL default_value: "true" }
    }
    message_type {
      name: "SentencePiece"
      field { name: "piece" number: 1 type: TYPE_STRING }
      field { name: "score" number: 2 type: TYPE_FLOAT }
      field { name: "type" number: 3 type: TYPE_INT32 default_value: "1" }
    }
    message_type {
      name: "ModelProto"
      field { name: "pieces" number: 1 label: LABEL_REPEATED type_name: ".firth.sentencepiece.SentencePiece" }
      field { name: "trainer_spec" number: 2 type_name: ".firth.sentencepiece.TrainerSpec" }
      field { name: "normalizer_spec" number: 3 type_name: ".firth.sentencepiece.NormalizerSpec" }
    }
"""


def _make_class() -> Any:
    file = text_format.Parse(_FILE, descriptor_pb2.FileDescriptorProto())
    for field in (field for message in file.message_type for field in message.field):
        field.label = field.label if field.HasField("label") else field.LABEL_OPTIONAL
        field.type = field.type if field.HasField("type") else field.TYPE_MESSAGE
    return message_factory.GetMessages([file])["firth.sentencepiece.ModelProto"]


# The package in C++ looks pieces up by a function that calls itself for each byte, and ends the process of a
# longer one. Trained pieces have 16 characters.
LONGEST_PIECE = 4096
ModelProto = _make_class()
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
