"""POST /v1/responses: text in, text out; nothing is kept between requests."""

import contextlib
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pydantic
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firth.recipes.tokenizers.chat_template import SYSTEM, USER
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import Event, EventStream, Started, new_id
from firth.serving.server.openai.chat import ChatPrompt, MessageBody, chat_prompt, reply_prompts
from firth.serving.server.openai.constraints import TextFormat, compiled, placed_constraint
from firth.serving.server.openai.parameters import Sampled
from firth.serving.server.openai.slots import reads_dialogues, slots_of
from firth.serving.server.openai.writing import SoFar, finished, writing
from firth.serving.server.pieces import Pieces
from firth.serving.server.versions import ModelVersion

_OBJECT = "response"


class InputMessage(MessageBody):
    """A message of the input."""

    type: Literal["message"] | None = None
    """Kind of the item; only messages are read."""
    id: str | None = None
    """Name of an item of an earlier answer."""
    status: str | None = None
    """State of an item of an earlier answer."""
    phase: str | None = None
    """Part of an earlier answer."""

    ignored: ClassVar[tuple[str, ...]] = ("id", "status", "phase")


class TextConfig(Body):
    """Form of the written text."""

    format: TextFormat | None = None
    """Form of the text."""
    verbosity: str | None = None
    """Length of the answer; the model has one alone."""


class ResponseBody(Sampled):
    """Body of a request for a text."""

    input: str | Annotated[list[InputMessage], pydantic.Field(min_length=1)]
    """A text, or the messages of a dialogue."""
    instructions: str | None = None
    """Instructions for the whole dialogue."""
    max_output_tokens: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Most tokens to write; as many as there is room for where it is not given."""
    text: TextConfig | None = None
    """Form of the text."""
    truncation: str | None = None
    """`disabled`: an input that is too long is refused."""
    parallel_tool_calls: bool | None = None
    """Whether several tools are called at a time; there are none."""
    store: bool | None = None
    """Whether the answer is kept."""
    background: bool | None = None
    """Whether the answer is fetched later."""
    background_options: Any = None
    """Options of answers that are fetched later."""
    tools: list[Any] | None = None
    """Tools that may be called."""
    tool_choice: Any = None
    """Which of them is called."""
    max_tool_calls: int | None = None
    """Most calls of tools."""
    include: list[str] | None = None
    """Further parts of the answer."""
    top_logprobs: int | None = None
    """Number of the likeliest tokens at each place."""
    previous_response_id: str | None = None
    """An answer that this one continues."""
    conversation: Any = None
    """A kept dialogue that this one continues."""
    context_management: Any = None
    """Rules for long dialogues."""
    prompt: Any = None
    """A kept prompt."""
    reasoning: Any = None
    """Amount of text that is thought before an answer."""
    image: Any = None
    """Form of pictures."""
    moderation: Any = None
    """Checks of the texts."""
    access_programs: Any = None
    """Programs of a provider."""

    ignored: ClassVar[tuple[str, ...]] = (*Sampled.ignored, "parallel_tool_calls")
    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        **Sampled.neutral,
        "truncation": ("disabled",),
        "store": (False,),
        "background": (False,),
        "background_options": (),
        "tools": ([],),
        "tool_choice": ("none", "auto"),
        "max_tool_calls": (),
        "include": ([],),
        "top_logprobs": (0,),
        "previous_response_id": (),
        "conversation": (),
        "context_management": (),
        "prompt": (),
        "reasoning": (),
        "image": (),
        "moderation": (),
        "access_programs": (),
    }


class _Asked(NamedTuple):
    body: ResponseBody
    prompt: ChatPrompt
    id: str
    message_id: str
    created: int


async def responses(request: Request, models: Models) -> Response:
    """Answers a request for a text."""
    body = await read_body(ResponseBody, request)
    _check(body)
    with contextlib.ExitStack() as held:
        version = held.enter_context(models.lease(body.model))
        prompt = await _prompt(body, version)
        held_to = placed_constraint(
            body.structured_outputs, (body.text or TextConfig()).format, "text.format"
        )
        prompt = prompt._replace(constraint=await compiled(slots_of(version), held_to))
        asked = _Asked(body, prompt, new_id("resp"), new_id("msg"), int(time.time()))
        if body.stream:
            return EventStream(await Started.of(_events(asked, held.pop_all())))
        (found,) = await finished(slots_of(version), _slot_prompts(asked), ())
        return JSONResponse(_response(asked, found))


def _check(body: ResponseBody) -> None:
    form = body.text or TextConfig()
    if form.verbosity is not None:
        raise RequestError("text: verbosity: this server does not honour it; leave it out", 400, "text")
    body.check_stream()


async def _prompt(body: ResponseBody, version: ModelVersion) -> ChatPrompt:
    if reads_dialogues(slots_of(version).described) or not isinstance(body.input, str):
        turns = [{"role": USER, "content": body.input}] if isinstance(body.input, str) else []
        turns += [] if isinstance(body.input, str) else [each.message for each in body.input]
        begin = [{"role": SYSTEM, "content": body.instructions}] if body.instructions else []
        return await chat_prompt(version, [*begin, *turns], "input")
    if body.instructions:
        raise RequestError(
            f"instructions: {version.name} has no chat template; it continues the text of input alone",
            400,
            "instructions",
        )
    pieces = Pieces(version)
    return ChatPrompt(version, pieces, await pieces.framed(body.input, "input"))


def _slot_prompts(asked: _Asked) -> list[Any]:
    most = ("max_output_tokens", asked.body.max_output_tokens)
    return reply_prompts(asked.body, asked.prompt, most, 1)


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _message(asked: _Asked, status: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": asked.message_id,
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": list(parts),
    }


def _response(asked: _Asked, found: SoFar | None) -> dict[str, Any]:
    """Returns the whole answer; without output while it is being written."""
    body, is_full = asked.body, found is not None and found.finish_reason == "length"
    status = "in_progress" if found is None else "incomplete" if is_full else "completed"
    read, written = len(asked.prompt.ids), 0 if found is None else found.slot.written
    usage = {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }
    return {
        "id": asked.id,
        "object": _OBJECT,
        "created_at": asked.created,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_full else None,
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "metadata": body.metadata or {},
        "model": body.model,
        "output": [] if found is None else [_message(asked, status, _part(found.text))],
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": False,
        "temperature": body.controls({**slots_of(asked.prompt.version).described["parameters"]})[
            "temperature"
        ],
        "text": {"format": _format(body)},
        "tool_choice": "none",
        "tools": [],
        "top_p": body.top_p,
        "truncation": "disabled",
        "usage": None if found is None else usage,
        "user": body.user,
    }


def _format(body: ResponseBody) -> dict[str, Any]:
    given = body.text and body.text.format
    return given.model_dump(by_alias=True, exclude_none=True) if given else {"type": "text"}


async def _events(asked: _Asked, held: contextlib.ExitStack) -> AsyncGenerator[Event, None]:
    number = -1
    place = {"output_index": 0, "item_id": asked.message_id, "content_index": 0}

    def event(kind: str, **fields: Any) -> Event:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **fields}

    with held:
        slots = slots_of(asked.prompt.version)
        async with writing(slots, _slot_prompts(asked), ()) as steps:
            yield event("response.created", response=_response(asked, None))
            yield event("response.in_progress", response=_response(asked, None))
            begun = _message(asked, "in_progress")
            yield event("response.output_item.added", output_index=0, item=begun)
            yield event("response.content_part.added", **place, part=_part(""))
            async for each in steps:
                if each.fresh:
                    yield event("response.output_text.delta", **place, delta=each.fresh, logprobs=[])
                last = each
        whole = _response(asked, last)
        yield event("response.output_text.done", **place, text=last.text, logprobs=[])
        yield event("response.content_part.done", **place, part=_part(last.text))
        yield event("response.output_item.done", output_index=0, item=whole["output"][0])
        yield event(f"response.{whole['status']}", response=whole)
