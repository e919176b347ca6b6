"""Examples of Classify and Regress: from JSON, and as the serialized strings that signatures read."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow_serving.apis import input_pb2

from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.json_text import quoted
from firth.serving.server.tensorflow_serving.tensors import decoded, is_bytes


def read_input(request: Mapping[str, Any]) -> input_pb2.Input:
    """Returns the examples of a request, with the context that they share.

    Args:
        request: The request's object, with `examples` and, by choice, `context`.

    Raises:
        RequestError: naming the place of the first value that no feature takes.
    """
    examples = request.get("examples")
    context = _example(request["context"], "context") if "context" in request else None
    if "examples" not in request:
        raise RequestError("key 'examples' is expected and was not found", 400, "examples")
    if not isinstance(examples, list):
        raise RequestError(f"Expecting 'examples' value to be an list/array, not {quoted(examples)}")
    if not examples:
        raise RequestError("'examples' value is an empty array", 400, "examples")
    read = [_example(each, f"examples[{index}]") for index, each in enumerate(examples)]
    if context is None:
        return input_pb2.Input(example_list=input_pb2.ExampleList(examples=read))
    with_context = input_pb2.ExampleListWithContext(examples=read, context=context)
    return input_pb2.Input(example_list_with_context=with_context)


def _example(value: Any, place: str) -> tf.train.Example:
    if not isinstance(value, dict):
        raise RequestError(f"Example must be JSON object, but {place} is {quoted(value)}")
    features = {name: _feature(each, f"{place}.{name}") for name, each in value.items()}
    return tf.train.Example(features=tf.train.Features(feature=features))


# JSON's types, the field of a feature that has them, and the field's name in TF Serving's errors.
_FIELDS = {
    bool: ("int64_list", "int64"),
    int: ("int64_list", "int64"),
    float: ("float_list", "float"),
    str: ("bytes_list", "bytes"),
}
_LISTS = {
    "int64_list": tf.train.Int64List,
    "float_list": tf.train.FloatList,
    "bytes_list": tf.train.BytesList,
}


def _feature(value: Any, place: str) -> tf.train.Feature:
    values = value if isinstance(value, list) else [value]
    plain, field, kind = [], "", ""
    for index, each in enumerate(values):
        at = f"{place}[{index}]" if values is value else place
        found, name = _FIELDS[str] if is_bytes(each) else _FIELDS.get(type(each), ("", ""))
        if not found:
            raise RequestError(f"Feature: {at} has element with unexpected JSON type: {quoted(each)}")
        if field and found != field:
            raise RequestError(f"Unexpected element type in feature: {at} expecting type: {kind}")
        field, kind = found, name
        plain.append(_plain(each, at))
    return tf.train.Feature(**{field: _LISTS[field](value=plain)}) if field else tf.train.Feature()


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise RequestError(f"Feature: {place} is over 64 bits with a sign. Only int64_t is supported.")
    if isinstance(value, dict):
        return decoded(value, place)
    if isinstance(value, str):
        return value.encode()
    return value


def serialized(given: input_pb2.Input) -> list[bytes]:
    """Returns the examples of a request as strings, each after the context that it shares.

    Args:
        given: The examples. A feature of an example wins over one of the context with its name.

    Raises:
        RequestError: if there is no example.
    """
    shared = given.example_list_with_context
    is_shared = given.HasField("example_list_with_context")
    context = shared.context.SerializeToString() if is_shared else b""
    # Serialized messages that follow each other are merged when they are read.
    examples = [
        context + each.SerializeToString()
        for each in (shared.examples if is_shared else given.example_list.examples)
    ]
    if not examples:
        raise RequestError("Input is empty.")
    return examples
