"""Addresses of OpenAI's API."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.json_requests import Body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import while_connected
from firth.serving.server.openai.chat import ChatBody, chat_completions
from firth.serving.server.openai.completions import CompletionBody, completions
from firth.serving.server.openai.embeddings import EmbeddingBody, embeddings
from firth.serving.server.openai.model_cards import model_card
from firth.serving.server.openai.responses import ResponseBody, responses
from firth.serving.server.openai.slots import reads_dialogues
from firth.serving.server.settings import ServerSettings
from firth.serving.server.versions import ModelVersion

Answer = Callable[[Request, Models], Awaitable[Response]]


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
