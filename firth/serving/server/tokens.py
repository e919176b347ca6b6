"""GET /tokenizer_info, POST /tokenize and /detokenize: tokenizers of models with slots, as in vLLM."""

from typing import Annotated, Any, ClassVar

import pydantic
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from firth.serving.server.encoders.routes import only_model
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import while_connected
from firth.serving.server.openai.slots import slots_of
from firth.serving.server.pieces import CONTEXT, Pieces
from firth.serving.server.settings import ServerSettings
from firth.serving.server.versions import ModelVersion


class TokenizeBody(Body):
    """Body of a request for the tokens of a text."""

    prompt: str
    """The text."""
    model: Annotated[str, pydantic.Field(min_length=1)] | None = None
    """Name of the model; it may be left out where one model has slots."""
    add_special_tokens: bool | None = None
    """False for the text's own tokens alone, in which the name of a special piece is that piece; else they
    are those that the model reads, with the special pieces around a text, and such a name is ordinary."""
    return_token_strs: bool | None = None
    """True for the text of each token."""

    neutral: ClassVar[Any] = {}


class DetokenizeBody(Body):
    """Body of a request for the text of tokens."""

    tokens: list[int]
    """The tokens."""
    model: Annotated[str, pydantic.Field(min_length=1)] | None = None
    """Name of the model; it may be left out where one model has slots."""


# By address.
BODIES: dict[str, type[Body]] = {"/tokenize": TokenizeBody, "/detokenize": DetokenizeBody}


def routes(models: Models, settings: ServerSettings) -> list[BaseRoute]:
    """Returns the routes.

    Args:
        models: Models that are served.
        settings: Settings of the server, which nothing here depends on.
    """

    async def info(request: Request) -> Response:
        with models.lease(_name(models, request.query_params.get("model"))) as version:
            return JSONResponse(tokenizer_info(version))

    async def tokens(request: Request) -> Response:
        body = await read_body(TokenizeBody, request)
        with models.lease(_name(models, body.model)) as version:
            return JSONResponse(await _tokenize(body, version))

    async def text(request: Request) -> Response:
        body = await read_body(DetokenizeBody, request)
        with models.lease(_name(models, body.model)) as version:
            slots_of(version)
            pieces = Pieces(version)
            pieces.check_count(body.tokens, "tokens")
            return JSONResponse({"prompt": await pieces.text(pieces.known(body.tokens, "tokens"))})

    return [
        Route("/tokenizer_info", while_connected(info), methods=["GET"]),
        Route("/tokenize", while_connected(tokens), methods=["POST"]),
        Route("/detokenize", while_connected(text), methods=["POST"]),
    ]


def _name(models: Models, given: str | None) -> str:
    return given or only_model(models, lambda version: version.slots is not None)


def tokenizer_info(version: ModelVersion) -> dict[str, Any]:
    """Returns the special pieces of a tokenizer by their roles, and its chat template as a program in Jinja.

    Raises:
        RequestError: 404 for a model without slots, or one that was exported without these.
    """
    described = slots_of(version).described
    tokenizer = version.description.get("tokenizer")
    if tokenizer is None:
        raise RequestError(f"{version.name} does not describe its tokenizer; export it again", 404, "model")
    roles, by_id = tokenizer["roles"], {each: name for name, each in tokenizer["special_pieces"].items()}
    return {
        "tokenizer_class": tokenizer["kind"],
        "bos_token": roles.get("cls"),
        "eos_token": by_id.get(described["end_id"]),
        "pad_token": roles.get("pad"),
        "unk_token": roles.get("unk"),
        "additional_special_tokens": list(tokenizer["special_pieces"]),
        "vocab_size": described["vocabulary"],
        "model_max_length": described["prompt_lengths"][-1],
        "add_bos_token": bool(tokenizer["before"]),
        "chat_template": tokenizer["chat_template"],
    }


async def _tokenize(body: TokenizeBody, version: ModelVersion) -> dict[str, Any]:
    slots_of(version)
    pieces = Pieces(version)
    is_framed = body.add_special_tokens is not False
    ids = await (pieces.whole if is_framed else pieces.own)(body.prompt, "prompt")
    names = None
    if body.return_token_strs:
        names = await pieces.each_text(
            [(ids[max(place - CONTEXT, 0) : place], each) for place, each in enumerate(ids)]
        )
    return {
        "count": len(ids),
        "max_model_len": pieces.longest,
        "tokens": list(ids),
        "token_strs": names,
    }
