"""TF Serving's REST: predict, classify and regress, the status of a model and its metadata."""

import asyncio
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt
import tensorflow as tf
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.recipes.base.errors import first_of, suggest
from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.openai.routes import is_of_client, model_card
from firth.serving.server.requests import refusal
from firth.serving.server.settings import ServerSettings
from firth.serving.server.tensorflow_serving.examples import read_input, serialized
from firth.serving.server.tensorflow_serving.inference import (
    METHODS,
    ExamplesMethod,
    Outputs,
    asked_examples,
    find_method_signature,
    find_signature,
)
from firth.serving.server.tensorflow_serving.json_text import quoted, read_object, row_texts, tensor_text
from firth.serving.server.tensorflow_serving.messages import leased, metadata_text, status_of, status_text
from firth.serving.server.tensorflow_serving.tensors import check_inputs, dense, is_bytes
from firth.serving.server.versions import ModelVersion

T = TypeVar("T")

# An address at which a refusal has OpenAI's form.
_OF_OPENAI = "/v1/models"
# Bodies and answers over this many bytes are read and written in threads, while others are answered.
_QUICK = 1 << 14
_MODEL = r"(?i:/v1/models)/([^/:]+)(?:/versions/([0-9]+)|/labels/([^/:]+))?"
_ADDRESSES = {
    "POST": re.compile(_MODEL + r":(classify|regress|predict)"),
    "GET": re.compile(_MODEL + r"(?:/(metadata))?"),
}
# Versions have 64 bits with a sign.
_HIGHEST = 2**63 - 1


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


class Address(NamedTuple):
    """An address.

    Attributes:
        model: Name of the model.
        version: Its version; None for the newest, or that of the label.
        label: Label of the version.
        verb: `predict`, `classify` or `regress` of POST, `metadata` of GET; empty for the status.
    """

    model: str
    version: int | None = None
    label: str | None = None
    verb: str = ""


def read_address(method: str, path: str) -> Address:
    """Returns the address of a request.

    Args:
        method: `GET` or `POST`.
        path: Path of the request, as it was sent, with `%2F` for a slash in a name.

    Raises:
        RequestError: if TF Serving's API has no such path.

    Example:

    >>> read_address("POST", "/v1/models/half%2Btwo/versions/3:predict")
    Address(model='half+two', version=3, label=None, verb='predict')
    """
    found = _ADDRESSES[method].fullmatch(path)
    if found is None:
        if method == "GET" and path.rstrip("/").lower() == "/v1/models":
            raise RequestError("Missing model name in request.")
        raise RequestError(f"Malformed request: {method} {path[:256]}")
    model, version, label, verb = found.groups()
    # The digits are counted first: Python converts no more than a few thousand of them.
    if version and (len(version) > 19 or int(version) > _HIGHEST):
        raise RequestError(f"Failed to convert version: {version[:32]} to numeric.", 400, "version")
    return Address(
        _decoded(model), int(version) if version else None, _decoded(label) if label else None, verb or ""
    )


def _decoded(part: str) -> str:
    try:
        return urllib.parse.unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise RequestError(f"Failed to decode {part[:256]}: not UTF-8") from None


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes of TF Serving's REST.

    Args:
        models: The models.
        settings: Settings of the server.
    """

    async def answered(request: Request) -> Response:
        raw = request.scope.get("raw_path") or request.url.path.encode()
        # HEAD is asked of what GET answers.
        method = "POST" if request.method == "POST" else "GET"
        address = read_address(method, raw.decode("ascii", "replace").partition("?")[0])
        if method == "GET":
            is_plain = address == Address(address.model)
            if is_plain and is_of_client(request):
                return await _with_card(models, address)
            else:
                text = await run_in_threadpool(_described, models, address)
        else:
            text = await _inferred(models, address, await request.body())
        return Response(text, media_type="application/json")

    return [Route("/v1/models/{rest:path}", answered, methods=["GET", "POST"])]


def _described(models: Models, address: Address) -> str:
    if not address.verb:
        return status_text(status_of(models, address.model, address.version, address.label))
    with leased(models, address.model, address.version, address.label) as version:
        return metadata_text(version)


async def _with_card(models: Models, address: Address) -> Response:
    """Answers with what both APIs have at this address: one object that clients of either read."""
    try:
        status = json.loads(await run_in_threadpool(_described, models, address))
        with leased(models, address.model, None, None) as version:
            return JSONResponse({**status, **model_card(version)})
    except RequestError as error:
        return refusal(_OF_OPENAI, error)


async def _inferred(models: Models, address: Address, body: bytes) -> str:
    request = await _computed(len(body), read_object, body)
    method = METHODS.get(address.verb)
    with leased(models, address.model, address.version, address.label) as version:
        if method is None:
            return await _predicted(version, request, len(body))
        return await _of_examples(version, request, method, len(body))


async def _predicted(version: ModelVersion, request: Mapping[str, Any], size: int) -> str:
    name, signature = find_signature(version.signature_defs, signature_of(request))
    inputs, by_rows = await _computed(size, read_predict, request, signature)
    check_inputs(name, signature, inputs)
    outputs = await _outputs(version, name, inputs)
    return await _computed(sum(each.nbytes for each in outputs.values()), predict_text, outputs, by_rows)


async def _of_examples(
    version: ModelVersion, request: Mapping[str, Any], method: ExamplesMethod, size: int
) -> str:
    name = find_method_signature(version.signature_defs, signature_of(request), method)
    examples = serialized(await _computed(size, read_input, request))
    outputs = await _outputs(version, name, asked_examples(examples))
    return method.text(method.result(outputs, len(examples)))


async def _outputs(version: ModelVersion, name: str, inputs: Outputs) -> Outputs:
    # Rows of a large request are taken apart.
    return await asyncio.wrap_future(await run_in_threadpool(version.submit, name, inputs))


async def _computed(size: int, function: Callable[..., T], *arguments: Any) -> T:
    if size <= _QUICK:
        return function(*arguments)
    return await run_in_threadpool(function, *arguments)
