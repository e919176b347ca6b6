"""Models of SentencePiece as messages that can be read and written field by field.

The sentencepiece package brings such classes too, but they need a newer protobuf than TensorFlow 2.16 allows.
"""

from typing import Any

from google.protobuf import descriptor_pb2, message_factory, text_format
from google.protobuf.message import DecodeError

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
