"""POST /firth/predict, /firth/generate and /firth/challenge: requests of commands."""

import json
from typing import Annotated, Any

import pydantic
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.generation.results import LENGTH, STOP
from firth.serving.parameter import values_of
from firth.serving.server.announcements import CHALLENGE, Announcement
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, parse_body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import while_connected
from firth.serving.server.openai.slots import check_room, reads_dialogues, slots_of
from firth.serving.server.openai.writing import SoFar, finished
from firth.serving.server.pieces import Pieces
from firth.serving.server.settings import ServerSettings
from firth.serving.server.versions import ModelVersion
from firth.serving.slots.batcher import SlotPrompt

PREDICT, GENERATE = "/firth/predict", "/firth/generate"
_MOST_OF_CHALLENGE = 1_024


class _ModelBody(Body):
    model: Annotated[str, pydantic.Field(min_length=1)]
    """Name of the model."""
    version: int
    """Its version."""


class PredictBody(_ModelBody):
    """Body of a request for the answers of a signature."""

    signature: str
    """Name of the signature."""
    texts: list[str] | list[list[str]]
    """Texts, or lists of them for a signature that reads lists first."""
    others: dict[str, list[str] | list[list[str]]] = pydantic.Field({})
    """A text for each text of every other input, by its name."""
    parameters: dict[str, int | float] = pydantic.Field({})
    """Values of the signature's parameters."""


class GenerateBody(_ModelBody):
    """Body of a request for texts after prompts."""

    prompts: Annotated[list[str], pydantic.Field(min_length=1)]
    """The prompts."""
    parameters: Annotated[list[dict[str, int | float]], pydantic.Field(min_length=1)]
    """Values of the parameters of slots, for each prompt."""
    stop: list[str] = pydantic.Field([])
    """Texts before the first of which a text ends."""


class ChallengeBody(Body):
    """Body of a challenge."""

    nonce: Annotated[str, pydantic.Field(pattern="^[0-9a-f]{64}$")]
    """Random hexadecimal digits."""


def challenge_route(announcement: Announcement) -> Route:
    """Returns the route by which a command sees that the server wrote the file that names its address.

    Args:
        announcement: The file.
    """

    async def challenge(request: Request) -> Response:
        # It is open without a token.
        content = await request.body()
        if len(content) > _MOST_OF_CHALLENGE:
            raise RequestError(f"a challenge has at most {_MOST_OF_CHALLENGE:,} bytes", 413)
        body = parse_body(ChallengeBody, content)
        return JSONResponse({"proof": announcement.proof(body.nonce)})

    return Route(CHALLENGE, challenge, methods=["POST"])


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes.

    Args:
        models: Models that are served.
        settings: Settings of the server, which nothing here depends on.
    """

    async def predict(request: Request) -> Response:
        body = await read_body(PredictBody, request)
        with models.lease(body.model, body.version) as version:
            return _json(await run_in_threadpool(_predicted, body, version))

    async def generate(request: Request) -> Response:
        body = await read_body(GenerateBody, request)
        with models.lease(body.model, body.version) as version:
            return _json(await _generated(body, version))

    return [
        Route(PREDICT, while_connected(predict), methods=["POST"]),
        Route(GENERATE, while_connected(generate), methods=["POST"]),
    ]


def _json(answers: list[dict[str, Any]]) -> Response:
    # Scores may be infinite, which the command prints as Python does.
    return Response(json.dumps({"answers": answers}), media_type="application/json")


def _predicted(body: PredictBody, version: ModelVersion) -> list[dict[str, Any]]:
    others: dict[str, Any] = dict(body.others)
    try:
        return version.client.ask(
            body.signature, body.texts, others.pop("target", None), body.parameters, **others
        )
    except ValueError as error:
        raise RequestError(str(error)) from None


async def _generated(body: GenerateBody, version: ModelVersion) -> list[dict[str, Any]]:
    """Returns texts as a generator writes them, which refuses what slots would cut."""
    slots, pieces = slots_of(version), Pieces(version)
    if reads_dialogues(slots.described):
        raise RequestError(f"{version.name} learned dialogues; /v1/chat/completions asks it", 400, "prompts")
    if len(body.parameters) != len(body.prompts):
        raise RequestError("parameters: one for each prompt", 400, "parameters")
    check_room(slots, len(body.prompts), "prompts")
    prompts = []
    for text, values in zip(body.prompts, body.parameters):
        ids = await pieces.framed(text, "prompts")
        if len(ids) <= len(pieces.before) + len(pieces.after):
            raise RequestError("prompts: a prompt is empty", 400, "prompts")
        try:
            values_of(slots.described["parameters"], values, 1)
        except ValueError as error:
            raise RequestError(str(error), 400, "parameters") from None
        prompts.append(SlotPrompt(ids=ids, parameters=values))
    return [_written(each) for each in await finished(slots, prompts, body.stop)]


def _written(text: SoFar) -> dict[str, Any]:
    is_stopped = not text.slot.ended or text.text != text.slot.text
    return {"text": text.text, "ended": STOP if is_stopped else text.slot.ended or LENGTH}
