"""Tensors of requests: from JSON's lists, from and to protocol buffers, and of a signature's shapes."""

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

from firth.recipes.base.errors import first_of, suggest
from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.json_text import quoted

# NumPy 1's arrays have no more.
_MOST_AXES = 32
# A protocol buffer may repeat its last value to fill a shape: a short request of a huge tensor.
_MOST_BYTES = 1 << 28


def dense(value: Any, dtype: tf.DType, place: str, field: str = "") -> npt.NDArray[Any]:
    """Returns a JSON value, or nested lists of values, as a tensor.

    Args:
        value: The value; strings may be `{"b64": "..."}`.
        dtype: Type of the tensor.
        place: Place of the value in the request, for errors.
        field: Name of the field that each element of the first axis was taken from, for errors.

    Raises:
        RequestError: if lists of one axis have several lengths, or a value is not of the type.

    Example:

    >>> dense([[1, 2], [3, 4]], tf.int32, "instances").tolist()
    [[1, 2], [3, 4]]
    """
    shape: list[int] = []
    inner = value
    while isinstance(inner, list):
        shape.append(len(inner))
        if len(shape) > _MOST_AXES:
            raise RequestError(f"{place}: lists are nested deeper than the {_MOST_AXES} axes of a tensor")
        if not inner:
            break
        inner = inner[0]
    level = [value]
    for axis, size in enumerate(shape):
        for index, each in enumerate(level):
            if not isinstance(each, list) or len(each) != size:
                at = _at(place, field, index, shape[:axis])
                first = f"the first of its axis is a list of {size}"
                raise RequestError(f"{at} is {quoted(each)}, but {first}; a tensor is not ragged")
        level = [leaf for each in level for leaf in each]
    return _leaves(level, dtype, lambda index: _at(place, field, index, shape)).reshape(shape)


def _at(place: str, field: str, index: int, shape: list[int]) -> str:
    indices = [f"[{each}]" for each in np.unravel_index(index, shape)] if all(shape) else []
    inner = [f".{field}"] if field else []
    return "".join([place, *indices[:1], *inner, *indices[1:]])


def _leaves(values: list[Any], dtype: tf.DType, at: Callable[[int], str]) -> npt.NDArray[Any]:
    if dtype == tf.string:
        texts = np.empty(len(values), object)
        texts[:] = [_bytes(value, index, at) for index, value in enumerate(values)]
        return texts
    if dtype.is_bool:
        accepted: set[type] = {bool}
    elif dtype.is_integer and not dtype.is_quantized:
        accepted = {int}
    elif dtype.is_floating:
        accepted = {int, float}
    else:
        raise RequestError(f"{at(0)}: there are no JSON values for a tensor type: {dtype.name}")
    if not set(map(type, values)) <= accepted:
        index = next(index for index, value in enumerate(values) if type(value) not in accepted)
        raise _type_error(values[index], dtype, at(index))
    if accepted == {int} and values and not dtype.min <= min(values) <= max(values) <= dtype.max:
        index = next(index for index, value in enumerate(values) if not dtype.min <= value <= dtype.max)
        raise _type_error(values[index], dtype, at(index))
    if not dtype.is_floating:
        return np.array(values, dtype.as_numpy_dtype)
    try:
        numbers = np.array(values, np.float64)
    except OverflowError:
        raise RequestError(f"{at(0)}: an integer is too large for a {dtype.name}") from None
    # A number over the largest float32 is an infinity, as TF Serving has it.
    with np.errstate(over="ignore"):
        return numbers.astype(dtype.as_numpy_dtype)


def _type_error(value: Any, dtype: tf.DType, place: str) -> RequestError:
    return RequestError(f"{place} is {quoted(value)}, which is not of expected type: {_type_name(dtype)}")


def _type_name(dtype: tf.DType) -> str:
    return {tf.float32: "float", tf.float64: "double"}.get(dtype, dtype.name)


def _bytes(value: Any, index: int, at: Callable[[int], str]) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, dict):
        raise _type_error(value, tf.string, at(index))
    return decoded(value, at(index))


def is_bytes(value: Any) -> bool:
    """Returns true for a JSON object of bytes, `{"b64": "..."}`."""
    return isinstance(value, dict) and value.keys() == {"b64"} and isinstance(value["b64"], str)


def decoded(value: Any, place: str) -> bytes:
    """Returns the bytes of a JSON object of bytes.

    Args:
        value: The object.
        place: Its place in the request, for errors.

    Raises:
        RequestError: if the object has other keys, or its text is not Base64.

    Example:

    >>> decoded({"b64": "aGVsbG8"}, "inputs")
    b'hello'
    """
    if not is_bytes(value):
        raise RequestError(f'{place} is {quoted(value)}, which is not formatted as {{"b64": "..."}}')
    text = value["b64"].rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError(f"{place}: Unable to base64 decode {quoted(value['b64'])}") from None


def check_inputs(name: str, signature: Any, inputs: Mapping[str, npt.NDArray[Any]]) -> None:
    """Passes if tensors have the names, types and shapes of a signature's inputs.

    Args:
        name: Name of the signature, for errors.
        signature: Its SignatureDef.
        inputs: The tensors by name.

    Raises:
        RequestError: naming the first input that does not fit.
    """
    takes = signature.inputs
    for other in inputs.keys() - takes.keys():
        raise RequestError(f"signature {name} has no input {other}: {suggest(other, takes)}", 400, other)
    if missing := sorted(takes.keys() - inputs.keys()):
        raise RequestError(f"Missing named input: {first_of(missing)} of signature {name}", 400, missing[0])
    for key, array in inputs.items():
        expected, found = tf.as_dtype(takes[key].dtype), tf.as_dtype(array.dtype)
        if expected != found:
            raise RequestError(f"{key}: a tensor of {found.name}, not of {expected.name}", 400, key)
        if not _fits(takes[key].tensor_shape, array.shape):
            sizes = ["?" if each.size < 0 else str(each.size) for each in takes[key].tensor_shape.dim]
            raise RequestError(f"{key}: shape {list(array.shape)}, not [{', '.join(sizes)}]", 400, key)


def _fits(expected: Any, shape: tuple[int, ...]) -> bool:
    if expected.unknown_rank:
        return True
    sizes = [each.size for each in expected.dim]
    return len(sizes) == len(shape) and all(size in (-1, found) for size, found in zip(sizes, shape))


def array_of(name: str, proto: Any) -> npt.NDArray[Any]:
    """Returns the tensor of a TensorProto.

    Args:
        name: Name of the tensor, for errors.
        proto: The TensorProto.

    Raises:
        RequestError: if it has no such type, too large a shape, or other values than its shape has.
    """
    try:
        dtype = tf.as_dtype(proto.dtype)
    except TypeError:
        raise RequestError(f"{name}: there is no tensor type {proto.dtype}", 400, name) from None
    sizes = [each.size for each in proto.tensor_shape.dim]
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in sizes) or len(sizes) > _MOST_AXES:
        raise RequestError(f"{name}: the shape {sizes} is not that of a tensor", 400, name)
    if math.prod(sizes) * (dtype.size or 1) > _MOST_BYTES:
        raise RequestError(f"{name}: a tensor of shape {sizes} is too large", 413, name)
    try:
        return tf.make_ndarray(proto)
    except (TypeError, ValueError):
        raise RequestError(f"{name}: the values are not those of a {dtype.name} {sizes}", 400, name) from None


# Clients read the field of the type, which `tf.make_tensor_proto` leaves empty.
_FIELDS = {
    tf.float32: "float_val",
    tf.float64: "double_val",
    tf.int8: "int_val",
    tf.int16: "int_val",
    tf.int32: "int_val",
    tf.uint8: "int_val",
    tf.uint16: "int_val",
    tf.int64: "int64_val",
    tf.uint32: "uint32_val",
    tf.uint64: "uint64_val",
    tf.bool: "bool_val",
    tf.string: "string_val",
}


def proto_of(array: npt.NDArray[Any]) -> Any:
    """Returns a tensor as a TensorProto, its values in the field of their type.

    Args:
        array: The tensor.

    Example:

    >>> proto_of(np.array([2.5, 3.0], np.float32)).float_val
    [2.5, 3.0]
    """
    dtype = tf.as_dtype(array.dtype)
    field = _FIELDS.get(dtype)
    if field is None:
        return tf.make_tensor_proto(array)
    proto = tensor_pb2.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_shape=tf.TensorShape(array.shape).as_proto()
    )
    getattr(proto, field).extend(array.ravel().tolist())
    return proto
