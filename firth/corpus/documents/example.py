"""`tf.train.Example` without TensorFlow, which takes each of Beam's workers seconds to import."""

from typing import Any

from google.protobuf import descriptor_pb2, message_factory, text_format

# The fields of tensorflow/core/example/example.proto and feature.proto, by which the bytes are the same.
_FILE = """
    name: "firth/example.proto"  package: "firth"  syntax: "proto3"
    message_type {
      name: "BytesList"
      field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_BYTES }
    }
    message_type {
      name: "FloatList"
      field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_FLOAT }
    }
    message_type {
      name: "Int64List"
      field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_INT64 }
    }
    message_type {
      name: "Feature"
      oneof_decl { name: "kind" }
      field { name: "bytes_list" number: 1 type_name: ".firth.BytesList" oneof_index: 0 }
      field { name: "float_list" number: 2 type_name: ".firth.FloatList" oneof_index: 0 }
      field { name: "int64_list" number: 3 type_name: ".firth.Int64List" oneof_index: 0 }
    }
    message_type {
      name: "Features"
      field { name: "feature" number: 1 label: LABEL_REPEATED type_name: ".firth.Features.FeatureEntry" }
      nested_type {
        name: "FeatureEntry"
        options { map_entry: true }
        field { name: "key" number: 1 type: TYPE_STRING }
        field { name: "value" number: 2 type_name: ".firth.Feature" }
      }
    }
    message_type {
      name: "Example"
      field { name: "features" number: 1 type_name: ".firth.Features" }
    }
"""


def _make_class() -> Any:
    file = text_format.Parse(_FILE, descriptor_pb2.FileDescriptorProto())
    for message in file.message_type:
        for field in [*message.field, *(field for nested in message.nested_type for field in nested.field)]:
            field.label = field.label if field.HasField("label") else field.LABEL_OPTIONAL
            field.type = field.type if field.HasField("type") else field.TYPE_MESSAGE
    return message_factory.GetMessages([file])["firth.Example"]


Example = _make_class()
"""A `google.protobuf` message with the fields and the bytes of `tf.train.Example`."""


class FeatureError(ValueError):
    """A `tf.train.Example` of another component lacks a feature, or has an unreadable one."""


def text_of(name: str, feature: Any) -> str:
    """Returns the text of a feature with one value, or with none, as CsvExampleGen writes an empty cell.

    Example:

    >>> example = Example()
    >>> example.features.feature["id"].int64_list.value.append(7)
    >>> text_of("id", example.features.feature["id"])
    '7'
    """
    kind = feature.WhichOneof("kind")
    values = getattr(feature, kind).value if kind else ()
    if len(values) > 1:
        raise FeatureError(f"{name}: it has {len(values)} values, where one text is read")
    if not values:
        return ""
    try:
        return values[0].decode("utf-8") if isinstance(values[0], bytes) else str(values[0])
    except UnicodeDecodeError as error:
        raise FeatureError(f"{name}: it is not UTF-8: {error}") from error
