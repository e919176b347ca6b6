"""The routes of the playground: its files, the description of the models, and its requests to signatures."""

import functools
import math
import pathlib
from collections.abc import Mapping
from typing import Any

import pydantic
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.answers import READING, answer_lines, printed_fields, reading_line
from firth.serving.server.errors import RequestError
from firth.serving.server.models import Models
from firth.serving.server.settings import ServerSettings

PATH = "/playground"
_FILES = pathlib.Path(__file__).parent / "static"
_PAGE = "index.html"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# The page loads its own files and asks its own server; what a model writes cannot change that.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Asked(pydantic.BaseModel):
    """A request of the page to a signature.

    Attributes:
        model: Name of the model.
        signature: Name of the signature.
        texts: Texts, or lists of them for a signature that reads lists first.
        others: A text for each text of every other input, or a list of texts, by the input.
        parameters: Values of the signature's parameters that are not the defaults.
        outputs: Printed outputs that are wanted; all if there are none.
    """

    model_config = pydantic.ConfigDict(extra="forbid")

    model: str
    signature: str
    texts: list[str | list[str]] = pydantic.Field(min_length=1)
    others: dict[str, list[str | list[str]]] = {}
    parameters: dict[str, int | float] = {}
    outputs: list[str] = []


def open_paths() -> tuple[str, ...]:
    """Returns the addresses of the page's files, which hold nothing of the models."""
    return tuple(_path_of(path.name) for path in _files())


def _files() -> list[pathlib.Path]:
    return sorted(path for path in _FILES.iterdir() if path.suffix in _TYPES)


def _path_of(name: str) -> str:
    return PATH if name == _PAGE else f"{PATH}/{name}"


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes of the playground.

    Args:
        models: The models that are served.
        settings: Settings of the server, of which the playground needs none.
    """
    return [
        *(_file_route(path.name, path.read_bytes(), _TYPES[path.suffix]) for path in _files()),
        Route(f"{PATH}/description.json", functools.partial(_description, models)),
        Route(f"{PATH}/ask", functools.partial(_ask, models), methods=["POST"]),
    ]


def _file_route(name: str, content: bytes, media_type: str) -> Route:
    """Returns the route of a file of the page, which is held in memory: no request reads the disk."""

    def answer(request: Request) -> Response:
        return Response(content, media_type=media_type, headers=_HEADERS)

    return Route(_path_of(name), answer)


def described(models: Models) -> list[dict[str, Any]]:
    """Returns, of each model, its name, its version and the description of its signatures and slots.

    Args:
        models: The models that are served.
    """
    return [_described_model(models, name) for name in models.names]


def _described_model(models: Models, name: str) -> dict[str, Any]:
    try:
        with models.lease(name) as model:
            description = model.description
            return {
                "name": name,
                # Versions are numbers of 64 bits, of which JavaScript reads 53.
                "version": str(model.version),
                "signatures": description.get("signatures", {}),
                "slots": description.get("slots"),
            }
    except RequestError as error:
        return {"name": name, "problem": str(error), "signatures": {}, "slots": None}


def answers(models: Models, asked: Asked) -> list[dict[str, Any]]:
    """Returns the answers to a request of the page, as the model's description prints them.

    Args:
        models: The models that are served.
        asked: The request.

    Returns:
        For each text its `lines` for people, its `values` by their printed names, and a `note` on a text that
        was not read whole.

    Raises:
        RequestError: if there is no such model or signature, and for texts or parameters that it does not
            take.
    """
    with models.lease(asked.model) as model:
        signature = model.description.get("signatures", {}).get(asked.signature, {})
        needs = signature.get("needs", "")
        lacking = [text for text in asked.texts if isinstance(text, str) and needs not in text]
        if lacking:
            raise RequestError(f"there is no {needs} in {lacking[0]!r}", parameter="texts")
        others = dict(asked.others)
        # The client refuses lists where an input takes texts.
        targets: Any = others.pop("target", None)
        counts = {name: len(each) for name, each in asked.others.items() if len(each) != len(asked.texts)}
        for name, count in counts.items():
            raise RequestError(f"{name}: {count} for {len(asked.texts)} texts", parameter=name)
        try:
            found = model.client.ask(asked.signature, asked.texts, targets, asked.parameters, **others)
        except ValueError as error:
            raise RequestError(str(error)) from error
    return [_answer(signature.get("answer", {}), each, asked.outputs) for each in found]


def _answer(described: Mapping[str, Any], outputs: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    printed = printed_fields(described, outputs)
    values = {name: value for name, value in printed.items() if name not in READING}
    shown = {name: value for name, value in values.items() if not wanted or name in wanted}
    return {
        "lines": [] if wanted else answer_lines(described, values),
        "values": _finite(shown),
        "note": reading_line(printed) if printed.get("truncated") else "",
    }


def _finite(value: Any) -> Any:
    """Returns a value with the names of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


async def _description(models: Models, request: Request) -> Response:
    found = await run_in_threadpool(described, models)
    return JSONResponse({"models": found}, headers=_HEADERS)


async def _ask(models: Models, request: Request) -> Response:
    try:
        asked = Asked.model_validate_json(await request.body())
    except pydantic.ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"])) or "the request"
        raise RequestError(f"{place}: {problem['msg']}", parameter=place) from error
    found = await run_in_threadpool(answers, models, asked)
    return JSONResponse({"answers": found}, headers=_HEADERS)
