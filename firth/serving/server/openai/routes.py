"""Addresses of OpenAI's API, and the answers of /v1/embeddings: vectors of texts or of tokens."""

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pydantic
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.asking import MOST_TEXTS, answers, has
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import while_connected
from firth.serving.server.openai.chat import ChatBody, chat_completions
from firth.serving.server.openai.completions import CompletionBody, completions
from firth.serving.server.openai.responses import ResponseBody, responses
from firth.serving.server.openai.slots import reads_dialogues
from firth.serving.server.pieces import Pieces
from firth.serving.server.settings import ServerSettings
from firth.serving.server.versions import ModelVersion

Answer = Callable[[Request, Models], Awaitable[Response]]


def model_card(version: ModelVersion) -> dict[str, Any]:
    """Returns a model as OpenAI's API lists it."""
    return {
        "id": version.name,
        "object": "model",
        "created": version.changed,
        "owned_by": "firth",
    }


def is_of_client(request: Request) -> bool:
    """Returns true for a request of one of OpenAI's own clients, all of which say their language."""
    return "x-stainless-lang" in request.headers or request.headers.get("user-agent", "").startswith(
        "OpenAI/"
    )


class EmbeddingBody(Body):
    """Body of a request for vectors."""

    model: Annotated[str, pydantic.Field(min_length=1)]
    """Name of the model."""
    input: Annotated[
        str | list[int] | list[str] | list[list[int]], pydantic.Field(union_mode="left_to_right")
    ]
    """A text, its tokens, or a list of either."""
    encoding_format: Literal["float", "base64"] | None = None
    """Form of the vectors: numbers, or their bytes as float32 of the smaller end first, in base64."""
    dimensions: int | None = None
    """Number of dimensions; the model has one number alone."""
    user: str | None = None
    """Name of an end user."""


async def embeddings(request: Request, models: Models) -> Response:
    """Answers a request for vectors."""
    body = await read_body(EmbeddingBody, request)
    with models.lease(body.model) as version:
        has(version, "embed")
        texts = await _texts(body, version)
        found = await answers(version, "embed", texts, "input")
    vectors = [np.asarray(each["embedding"], np.float32) for each in found]
    if body.dimensions not in (None, len(vectors[0])):
        raise RequestError(
            f"dimensions: {body.dimensions}; the vectors of {body.model} have {len(vectors[0])}",
            400,
            "dimensions",
        )
    read = sum(each["tokens_read"] for each in found)
    return JSONResponse(
        {
            "object": "list",
            "data": [
                {"object": "embedding", "index": number, "embedding": _formed(each, body.encoding_format)}
                for number, each in enumerate(vectors)
            ],
            "model": body.model,
            "usage": {"prompt_tokens": read, "total_tokens": read},
        }
    )


async def _texts(body: EmbeddingBody, version: ModelVersion) -> list[str]:
    given: Any = body.input
    rows: Sequence[Any] = given if isinstance(given, list) and not _is_token(given[:1]) else [given]
    if not rows or not all(rows):
        raise RequestError("input: it is empty, or a text of it is", 400, "input")
    if len(rows) > MOST_TEXTS:
        raise RequestError(f"input: {len(rows):,} texts; at most {MOST_TEXTS:,}", 400, "input")
    if isinstance(rows[0], str):
        return list(rows)
    if version.slots is None:
        raise RequestError(
            f"input: {version.name} reads texts: it was exported without `detokenize`, which tokens need",
            400,
            "input",
        )
    pieces = Pieces(version)
    return [await pieces.text(pieces.known(each, "input")) for each in rows]


def _is_token(first: Sequence[Any]) -> bool:
    return bool(first) and isinstance(first[0], int)


def _formed(vector: Any, form: str | None) -> Any:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return vector.tolist()


class ApiAnswer(NamedTuple):
    """An address of OpenAI's API.

    Attributes:
        answer: Function from a request and the models to the answer.
        body: Type of the body.
        can_answer: Whether a version of a model can answer.
    """

    answer: Answer
    body: type[Body]
    can_answer: Callable[[ModelVersion], bool]


def _writes(version: ModelVersion) -> bool:
    return version.slots is not None


# By address; each reads a body in JSON.
ANSWERS: dict[str, ApiAnswer] = {
    "/v1/completions": ApiAnswer(completions, CompletionBody, _writes),
    "/v1/chat/completions": ApiAnswer(
        chat_completions,
        ChatBody,
        lambda version: version.slots is not None and reads_dialogues(version.slots.described),
    ),
    "/v1/responses": ApiAnswer(responses, ResponseBody, _writes),
    "/v1/embeddings": ApiAnswer(
        embeddings, EmbeddingBody, lambda version: "embed" in version.description.get("signatures", {})
    ),
}


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes.

    Args:
        models: Models that are served.
        settings: Settings of the server, which nothing here depends on.
    """

    def bound(answer: Answer) -> Any:
        return while_connected(lambda request: answer(request, models))

    made: list[BaseRoute] = [
        Route(path, bound(each.answer), methods=["POST"]) for path, each in ANSWERS.items()
    ]
    return [Route("/v1/models", bound(list_models), methods=["GET"]), *made]


async def list_models(request: Request, models: Models) -> Response:
    """Answers with the models that are served."""
    cards = []
    for name in models.names:
        with models.lease(name) as version:
            cards.append(model_card(version))
    return JSONResponse({"object": "list", "data": cards})
