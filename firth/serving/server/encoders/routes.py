"""Addresses of the answers of encoders."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.encoders.bodies import ClassifyBody, FillMaskBody, RankBody, TagBody
from firth.serving.server.encoders.labels import classify, fill_mask, tag
from firth.serving.server.encoders.rerank import SIGNATURES, rerank
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import while_connected
from firth.serving.server.settings import ServerSettings
from firth.serving.server.versions import ModelVersion


class EncoderAnswer(NamedTuple):
    """An address at which encoders are asked.

    Attributes:
        answer: Function from a body and a version of a model to the answer.
        body: Type of the body.
        signatures: Signatures of which a model that can answer has one.
        paths: Addresses.
    """

    answer: Callable[[Any, ModelVersion], Awaitable[Any]]
    body: type[Body]
    signatures: tuple[str, ...]
    paths: tuple[str, ...]

    def can_answer(self, version: ModelVersion) -> bool:
        """Returns whether a version of a model can answer."""
        return any(name in version.description.get("signatures", {}) for name in self.signatures)


# Servers of Cohere, vLLM and text-embeddings-inference have the shorter and the later ones.
ANSWERS = (
    EncoderAnswer(rerank, RankBody, SIGNATURES, ("/v1/rerank", "/v2/rerank", "/rerank")),
    EncoderAnswer(classify, ClassifyBody, ("classify", "classify_pair"), ("/v1/classify", "/classify")),
    EncoderAnswer(tag, TagBody, ("tag", "tag_words"), ("/v1/tag",)),
    EncoderAnswer(fill_mask, FillMaskBody, ("fill_mask",), ("/v1/fill_mask",)),
)


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes.

    Args:
        models: Models that are served.
        settings: Settings of the server, which nothing here depends on.
    """
    return [Route(path, _handler(models, each), methods=["POST"]) for each in ANSWERS for path in each.paths]


def _handler(models: Models, asked: EncoderAnswer) -> Any:
    async def answered(request: Request) -> Response:
        body: Any = await read_body(asked.body, request)
        name = body.model or only_model(models, asked.can_answer)
        with models.lease(name) as version:
            return JSONResponse(await asked.answer(body, version))

    return while_connected(answered)


def only_model(models: Models, can_answer: Callable[[ModelVersion], bool]) -> str:
    """Returns the name of the one model that can answer a request that names none.

    Raises:
        RequestError: 404 if no model can answer; 400 with their names if several can.
    """
    found = []
    for name in models.names:
        with models.lease(name) as version:
            found += [name] if can_answer(version) else []
    if not found:
        raise RequestError(f"no model answers this; there are {', '.join(models.names)}", 404, "model")
    if len(found) > 1:
        raise RequestError(f"model: required; one of {', '.join(found)}", 400, "model")
    return found[0]
