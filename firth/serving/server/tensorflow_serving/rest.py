"""TF Serving's REST: predict, classify and regress, the status of a model and its metadata."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.openai.model_cards import is_of_client, model_card
from firth.serving.server.requests import refusal
from firth.serving.server.settings import ServerSettings
from firth.serving.server.tensorflow_serving.address import Address, read_address
from firth.serving.server.tensorflow_serving.examples import read_input, serialized
from firth.serving.server.tensorflow_serving.inference import (
    METHODS,
    ExamplesMethod,
    Outputs,
    asked_examples,
    find_method_signature,
    find_signature,
)
from firth.serving.server.tensorflow_serving.json_text import read_object
from firth.serving.server.tensorflow_serving.messages import leased, metadata_text, status_of, status_text
from firth.serving.server.tensorflow_serving.predict_json import predict_text, read_predict, signature_of
from firth.serving.server.tensorflow_serving.tensors import check_inputs
from firth.serving.server.versions import ModelVersion

T = TypeVar("T")

# An address at which a refusal has OpenAI's form.
_OF_OPENAI = "/v1/models"
# Bodies and answers over this many bytes are read and written in threads, while others are answered.
_QUICK = 1 << 14


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
