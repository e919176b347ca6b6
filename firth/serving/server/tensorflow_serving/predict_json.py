"""Requests and answers of `:predict`, by rows (`instances`) and by columns (`inputs`)."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy.typing as npt
import tensorflow as tf

from firth.recipes.base.errors import first_of, suggest
from firth.serving.server.errors import RequestError
from firth.serving.server.tensorflow_serving.json_text import quoted, row_texts, tensor_text
from firth.serving.server.tensorflow_serving.tensors import dense, is_bytes


class Predict(NamedTuple):
    """The tensors of a request.

    Attributes:
        inputs: Tensors by name.
        by_rows: True for `instances`, whose answer has a value for each row.
    """

    inputs: dict[str, npt.NDArray[Any]]
    by_rows: bool


def signature_of(request: Mapping[str, Any]) -> str:
    """Returns the name of the signature that a request asks; empty for the default one.

    Args:
        request: The request's object.
    """
    name = request.get("signature_name", "")
    if not isinstance(name, str):
        raise RequestError(
            f"'signature_name' key must be a string value, not {quoted(name)}", 400, "signature_name"
        )
    return name


def read_predict(request: Mapping[str, Any], signature: Any) -> Predict:
    """Returns the tensors of a request.

    Args:
        request: The request's object.
        signature: SignatureDef that names the inputs and their types.

    Raises:
        RequestError: naming the place of the first value that is not of its tensor.
    """
    types = {name: tf.as_dtype(each.dtype) for name, each in signature.inputs.items()}
    if not types:
        raise RequestError("the signature has no inputs")
    if "instances" in request and "inputs" in request:
        raise RequestError("Not formatted correctly: one of 'inputs' or 'instances' is expected, not both")
    if "instances" in request:
        return Predict(_of_instances(request["instances"], types), by_rows=True)
    if "inputs" in request:
        return Predict(_of_inputs(request["inputs"], types), by_rows=False)
    raise RequestError("Missing 'inputs' or 'instances' key")


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) and not is_bytes(value)


def _of_instances(rows: Any, types: Mapping[str, tf.DType]) -> dict[str, npt.NDArray[Any]]:
    if not isinstance(rows, list):
        raise RequestError(f"Expecting 'instances' to be a list/array, not {quoted(rows)}", 400, "instances")
    if not rows:
        raise RequestError("No values in 'instances' array", 400, "instances")
    if not _is_object(rows[0]):
        _refuse_plain(types, "instances", "a list of objects")
        for index, row in enumerate(rows):
            if _is_object(row):
                raise RequestError(f"Expecting value/list but got object at instances[{index}]")
        ((name, dtype),) = types.items()
        return {name: dense(rows, dtype, "instances")}
    for index, row in enumerate(rows):
        if not _is_object(row):
            raise RequestError(f"Expecting object but got {quoted(row)} at instances[{index}]")
        _check_keys(row, types, f"instances[{index}]")
    return {
        name: dense([row[name] for row in rows], dtype, "instances", name) for name, dtype in types.items()
    }


def _of_inputs(value: Any, types: Mapping[str, tf.DType]) -> dict[str, npt.NDArray[Any]]:
    if not _is_object(value):
        _refuse_plain(types, "inputs", "an object")
        ((name, dtype),) = types.items()
        return {name: dense(value, dtype, "inputs")}
    _check_keys(value, types, "inputs")
    return {name: dense(value[name], dtype, f"inputs.{name}") for name, dtype in types.items()}


def _refuse_plain(types: Mapping[str, tf.DType], key: str, instead: str) -> None:
    if len(types) > 1:
        names = ", ".join(sorted(types))
        raise RequestError(f"'{key}' is a plain value/list, but has to be {instead} with {names}", 400, key)


def _check_keys(found: Mapping[str, Any], types: Mapping[str, tf.DType], place: str) -> None:
    for name in found:
        if name not in types:
            raise RequestError(
                f"{place}: does not have named input: {name}; {suggest(name, types)}", 400, name
            )
    if missing := sorted(types.keys() - found.keys()):
        raise RequestError(f"{place}: Missing named input: {first_of(missing)}", 400, missing[0])


def predict_text(outputs: Mapping[str, npt.NDArray[Any]], by_rows: bool) -> str:
    """Returns the JSON of an answer; the name of a single tensor is dropped.

    Args:
        outputs: Tensors by name.
        by_rows: True for a value of each row.

    Raises:
        RequestError: if tensors that are asked by rows have no rows, or not equally many.

    Example:

    >>> import numpy as np
    >>> predict_text({"y": np.array([[1], [2]]), "z": np.array([True, False])}, by_rows=True)
    '{"predictions": [{"y": [1], "z": true}, {"y": [2], "z": false}]}'
    """
    if not outputs:
        raise RequestError("Cannot convert empty tensor map to JSON")
    if not by_rows:
        texts = {name: tensor_text(name, array) for name, array in outputs.items()}
        return f'{{"outputs": {_named(texts)}}}'
    _check_rows(outputs)
    columns = [row_texts(name, array) for name, array in outputs.items()]
    rows = (_named(dict(zip(outputs, row))) for row in zip(*columns))
    return f'{{"predictions": [{", ".join(rows)}]}}'


def _named(texts: Mapping[str, str]) -> str:
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in texts.items()) + "}"


def _check_rows(outputs: Mapping[str, npt.NDArray[Any]]) -> None:
    first = None
    for name, array in outputs.items():
        hint = "ask with 'inputs' instead of 'instances'"
        if not array.ndim:
            raise RequestError(f"Tensor name: {name} has no shape information of rows; {hint}", 400, name)
        first = len(array) if first is None else first
        if len(array) != first:
            raise RequestError(
                f"Tensor name: {name} has inconsistent batch size: {len(array)} rows, not {first}; {hint}",
                400,
                name,
            )
