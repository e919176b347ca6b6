"""GET /openapi.json: the addresses that the served models answer at, made of their descriptions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.encoders.routes import ANSWERS as OF_ENCODERS
from firth.serving.server.json_requests import Body
from firth.serving.server.models import Models
from firth.serving.server.openai.routes import ANSWERS as OF_OPENAI
from firth.serving.server.settings import ServerSettings
from firth.serving.server.tokens import BODIES as OF_TOKENS
from firth.serving.server.versions import ModelVersion
from firth.version import __version__

_OPENAPI = "3.1.0"
_REFERENCE = "#/components/schemas/{model}"
# Types of JSON by the letters of a dtype's name; all others are numbers.
_TYPES = {"string": "string", "bool": "boolean", "int": "integer", "uint": "integer"}


class _Address(NamedTuple):
    path: str
    body: type[Body]
    can_answer: Callable[[ModelVersion], bool]


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes.

    Args:
        models: Models that are served.
        settings: Settings of the server, which nothing here depends on.
    """

    async def answered(request: Request) -> Response:
        return JSONResponse(openapi(models))

    return [Route("/openapi.json", answered, methods=["GET"])]


def openapi(models: Models) -> dict[str, Any]:
    """Returns the description of the server in the form of OpenAPI.

    An address is there if one of the models answers at it, and names those that do.

    Args:
        models: Models that are served.
    """
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {"/v1/models": {"get": _operation("Lists the models.", None)}}
    addresses = list(_addresses())
    able: dict[str, list[str]] = {}
    for name in models.names:
        with models.lease(name) as version:
            paths |= _of_signatures(version, schemas)
            for each in addresses:
                if each.can_answer(version):
                    able.setdefault(each.path, []).append(name)
    for each in addresses:
        if names := able.get(each.path):
            schema = _schema_of(each.body, schemas)
            meaning = f"Answered by {', '.join(names)}."
            paths[each.path] = {"post": _operation(meaning, schema)}
    return {
        "openapi": _OPENAPI,
        "info": {"title": "firth", "version": __version__},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": schemas},
    }


def _addresses() -> Iterator[_Address]:
    for path, api in OF_OPENAI.items():
        yield _Address(path, api.body, api.can_answer)
    for asked in OF_ENCODERS:
        for path in asked.paths:
            yield _Address(path, asked.body, asked.can_answer)
    for path, body in OF_TOKENS.items():
        yield _Address(path, body, lambda version: version.slots is not None)


def _schema_of(body: type[Body], schemas: dict[str, Any]) -> dict[str, str]:
    """Adds the schema of a body to those of the document, and returns a reference to it."""
    made = body.model_json_schema(ref_template=_REFERENCE)
    schemas.update(made.pop("$defs", {}))
    schemas[body.__name__] = made
    return {"$ref": _REFERENCE.format(model=body.__name__)}


def _operation(meaning: str, body: Mapping[str, Any] | None, answer: Any = None) -> dict[str, Any]:
    content = {"application/json": {"schema": answer or {"type": "object"}}}
    made: dict[str, Any] = {
        "summary": meaning,
        "responses": {"200": {"description": "OK", "content": content}},
    }
    if body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return made


def _of_signatures(version: ModelVersion, schemas: dict[str, Any]) -> dict[str, Any]:
    """Returns the address at which TensorFlow Serving's clients ask the signatures of a model."""
    described: Mapping[str, Any] = version.description.get("signatures", {})
    if not described:
        return {}
    asked: list[dict[str, str]] = []
    given: list[dict[str, str]] = []
    for name, signature in described.items():
        for kind, tensors, where in (
            ("inputs", signature["inputs"], asked),
            ("outputs", signature["outputs"], given),
        ):
            title = f"{version.name}.{name}.{kind}"
            schemas[title] = _record(tensors, required=kind == "inputs")
            where.append({"$ref": _REFERENCE.format(model=title)})
    body = {
        "type": "object",
        "properties": {
            "signature_name": {"enum": list(described)},
            "instances": {"type": "array", "items": {"anyOf": asked}},
        },
        "required": ["instances"],
    }
    answer = {
        "type": "object",
        "properties": {"predictions": {"type": "array", "items": {"anyOf": given}}},
    }
    meaning = f"Asks a signature of {version.name}."
    return {f"/v1/models/{version.name}:predict": {"post": _operation(meaning, body, answer)}}


def _record(tensors: Mapping[str, Mapping[str, Any]], required: bool) -> dict[str, Any]:
    """Returns the schema of the values of one text: of each tensor, all axes but that of the batch."""
    fields = {
        name: _tensor(each["dtype"], each["shape"][1:], each["meaning"]) for name, each in tensors.items()
    }
    made: dict[str, Any] = {"type": "object", "properties": fields}
    return {**made, "required": list(tensors)} if required else made


def _tensor(dtype: str, axes: Sequence[Any], meaning: str) -> dict[str, Any]:
    """Returns the schema of a tensor's values.

    Example:

    >>> _tensor("int32", [2], "places")
    {'type': 'array', 'items': {'type': 'integer'}, 'minItems': 2, 'maxItems': 2, 'description': 'places'}
    """
    made: dict[str, Any] = {"type": _TYPES.get(dtype.rstrip("0123456789"), "number")}
    for axis in reversed(axes):
        size = {"minItems": axis, "maxItems": axis} if isinstance(axis, int) else {}
        made = {"type": "array", "items": made, **size}
    return {**made, "description": meaning}
