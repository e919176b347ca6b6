"""`tf.train.Example` without TensorFlow, which takes each of Beam's workers seconds to import."""

import pathlib
from typing import Any

from google.protobuf import descriptor_pb2, message_factory, text_format

_SCHEMA = pathlib.Path(__file__).with_name("example.textproto").read_text(encoding="utf-8")
_FILE = text_format.Parse(_SCHEMA, descriptor_pb2.FileDescriptorProto())
Example: Any = message_factory.GetMessages([_FILE])["firth.Example"]
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
