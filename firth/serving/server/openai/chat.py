"""POST /v1/chat/completions: replies of models that learned dialogues."""

import contextlib
import json
import secrets
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pydantic
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firth.constraints.matcher import CompiledConstraint
from firth.recipes.tokenizers.chat_template import SYSTEM, order_problem
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body, read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import Event, EventStream, Started, new_id
from firth.serving.server.openai.constraints import TextFormat, compiled, placed_constraint
from firth.serving.server.openai.log_probabilities import (
    NamedToken,
    certain,
    chat_form,
    named,
    of_value,
    written_tokens,
)
from firth.serving.server.openai.parameters import Count, Sampled, Stops, stops_of
from firth.serving.server.openai.slots import check_room, check_scores, check_top, reads_dialogues, slots_of
from firth.serving.server.openai.writing import SoFar, finished, slot_prompts, writing
from firth.serving.server.pieces import Pieces
from firth.serving.server.versions import ModelVersion

_MOST_TOP = 20


class TextPart(Body):
    """A part of the content of a message."""

    type: Literal["text", "input_text", "output_text"]
    """Kind of the part; pictures, sounds and files are not read."""
    text: str
    """The text."""
    annotations: list[Any] | None = None
    """Notes of an earlier answer."""
    logprobs: list[Any] | None = None
    """Log-probabilities of an earlier answer."""

    ignored: ClassVar[tuple[str, ...]] = ("annotations", "logprobs")


class MessageBody(Body):
    """A message of a dialogue."""

    role: Literal["system", "developer", "user", "assistant"]
    """Who speaks; `developer` is another name of `system`."""
    content: str | list[TextPart]
    """The text, or its parts."""

    @property
    def message(self) -> dict[str, str]:
        """The message as a dialogue has it."""
        parts = [self.content] if isinstance(self.content, str) else [each.text for each in self.content]
        return {"role": SYSTEM if self.role == "developer" else self.role, "content": "".join(parts)}


class ChatBody(Sampled):
    """Body of a request for the next reply of a dialogue."""

    messages: Annotated[list[MessageBody], pydantic.Field(min_length=1)]
    """The dialogue so far; the last message is the user's."""
    max_completion_tokens: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Most tokens of a reply; as many as there is room for where it is not given."""
    max_tokens: Annotated[int, pydantic.Field(ge=1)] | None = None
    """Older name of `max_completion_tokens`."""
    n: Count | None = None
    """Number of replies."""
    logprobs: bool | None = None
    """True for the log-probabilities of the tokens."""
    top_logprobs: Annotated[int, pydantic.Field(ge=0, le=_MOST_TOP)] | None = None
    """Number of the likeliest tokens at each place."""
    stop: Stops | None = None
    """Texts before the first of which a reply ends."""
    response_format: TextFormat | None = None
    """Form of the text."""
    modalities: list[str] | None = None
    """Kinds of answers."""
    parallel_tool_calls: bool | None = None
    """Whether several tools are called at a time; there are none."""
    store: bool | None = None
    """Whether the answer is kept."""
    tools: list[Any] | None = None
    """Tools that may be called."""
    tool_choice: Any = None
    """Which of them is called."""
    functions: list[Any] | None = None
    """Older name of `tools`."""
    function_call: Any = None
    """Older name of `tool_choice`."""
    audio: Any = None
    """Form of spoken answers."""
    prediction: Any = None
    """Text that an answer is expected to have."""
    reasoning_effort: str | None = None
    """Amount of text that is thought before an answer."""
    verbosity: str | None = None
    """Length of the answer."""
    web_search_options: Any = None
    """Options of a search."""
    moderation: Any = None
    """Checks of the texts."""

    ignored: ClassVar[tuple[str, ...]] = (*Sampled.ignored, "parallel_tool_calls")
    neutral: ClassVar[Any] = {
        **Sampled.neutral,
        "modalities": (["text"],),
        "store": (False,),
        "tools": ([],),
        "tool_choice": ("none", "auto"),
        "functions": ([],),
        "function_call": ("none", "auto"),
        "audio": (),
        "prediction": (),
        "reasoning_effort": ("none",),
        "verbosity": (),
        "web_search_options": (),
        "moderation": (),
    }


class ChatPrompt(NamedTuple):
    """A dialogue that is to be replied to.

    Attributes:
        version: Version of the model.
        pieces: Its tokens.
        ids: Tokens of the dialogue.
        constraint: Constraint that the reply is held to; None for a free one.
    """

    version: ModelVersion
    pieces: Pieces
    ids: tuple[int, ...]
    constraint: CompiledConstraint | None = None


async def chat_prompt(
    version: ModelVersion, messages: Sequence[Mapping[str, str]], parameter: str
) -> ChatPrompt:
    """Returns a dialogue as a model reads it.

    Args:
        version: Version of the model.
        messages: The dialogue, each message with its `role` and `content`.
        parameter: Name of the parameter that has it.

    Raises:
        RequestError: 404 for a model without a chat template; 400 for messages in an order that no dialogue
            has, and for a dialogue that is longer than the model reads.
    """
    slots = slots_of(version)
    if not reads_dialogues(slots.described):
        raise RequestError(
            f"{version.name} has no chat template, since it did not learn dialogues; it has /v1/completions",
            404,
            "model",
        )
    if problem := order_problem([each["role"] for each in messages], asks=True):
        raise RequestError(f"{parameter}: {problem}", 400, parameter)
    pieces = Pieces(version)
    return ChatPrompt(version, pieces, await pieces.framed(json.dumps(list(messages)), parameter))


async def chat_completions(request: Request, models: Models) -> Response:
    """Answers a request for the next reply of a dialogue."""
    body = await read_body(ChatBody, request)
    _check(body)
    with contextlib.ExitStack() as held:
        version = held.enter_context(models.lease(body.model))
        check_room(slots_of(version), body.n or 1, "n")
        prompt = await chat_prompt(version, [each.message for each in body.messages], "messages")
        held_to = placed_constraint(
            body.structured_outputs, body.response_format, "response_format", body.stop
        )
        prompt = prompt._replace(constraint=await compiled(slots_of(version), held_to))
        if body.logprobs:
            check_scores(slots_of(version).described, "logprobs")
        check_top(slots_of(version).described, body.top_logprobs or 0, "top_logprobs")
        if body.stream:
            return EventStream(await Started.of(_events(body, prompt, held.pop_all())), "[DONE]")
        return JSONResponse(await _whole(body, prompt))


def _check(body: ChatBody) -> None:
    if body.top_logprobs is not None and not body.logprobs:
        raise RequestError("top_logprobs: only with logprobs", 400, "top_logprobs")
    body.check_stream()
    if body.max_tokens is not None and body.max_completion_tokens not in (None, body.max_tokens):
        raise RequestError("max_tokens: it differs from max_completion_tokens", 400, "max_tokens")


def _slot_prompts(body: ChatBody, prompt: ChatPrompt) -> list[Any]:
    name = "max_tokens" if body.max_completion_tokens is None else "max_completion_tokens"
    return reply_prompts(body, prompt, (name, getattr(body, name)), body.n or 1)


def reply_prompts(body: Sampled, prompt: ChatPrompt, most: tuple[str, int | None], choices: int) -> list[Any]:
    """Returns the prompts of replies, with as many tokens as there is room for where none is named."""
    described = slots_of(prompt.version).described
    seed = body.seed if body.seed is not None else secrets.randbits(62)
    longest = int(described["parameters"]["max_new_tokens"]["most"])
    named_most = (most[0], most[1] or longest)
    return slot_prompts(
        body, described, [prompt.ids], named_most, prompt.constraint, choices=choices, seed=seed
    )


async def _whole(body: ChatBody, prompt: ChatPrompt) -> dict[str, Any]:
    found = await finished(slots_of(prompt.version), _slot_prompts(body, prompt), stops_of(body.stop))
    choices = [
        {
            "index": each.choice,
            "message": {"role": "assistant", "content": each.text, "refusal": None},
            "logprobs": _formed(body, await _scores(body, prompt, each, 0, 0)),
            "finish_reason": each.finish_reason,
        }
        for each in found
    ]
    written = sum(each.slot.written for each in found)
    return {**_head(body, "chat.completion"), "choices": choices, "usage": _usage(prompt, written)}


def _formed(body: ChatBody, tokens: Sequence[NamedToken]) -> dict[str, Any] | None:
    return chat_form(tokens) if body.logprobs else None


async def _scores(
    body: ChatBody, prompt: ChatPrompt, written: SoFar, first: int, size: int
) -> list[NamedToken]:
    """Returns the tokens of a reply after the first ones, which have some number of characters."""
    if not body.logprobs:
        return []
    tokens = written_tokens(written.slot, prompt.pieces.end_id)
    before = [*prompt.ids, *(each.id for each in tokens[:first])]
    found = await named(prompt.pieces, before, tokens[first:], body.top_logprobs or 0)
    found = of_value(found) if prompt.constraint is not None and not first else found
    return certain(found, written, size)


def _head(body: ChatBody, kind: str) -> dict[str, Any]:
    return {"id": new_id("chatcmpl"), "object": kind, "created": int(time.time()), "model": body.model}


def _usage(prompt: ChatPrompt, written: int) -> dict[str, int]:
    read = len(prompt.ids)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


async def _events(
    body: ChatBody, prompt: ChatPrompt, held: contextlib.ExitStack
) -> AsyncGenerator[Event, None]:
    head, written = _head(body, "chat.completion.chunk"), 0
    has_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
    usage: dict[str, Any] = {"usage": None} if has_usage else {}
    # Numbers of tokens and of characters that were sent, by reply.
    sent: dict[int, tuple[int, int]] = {}

    def event(choice: int, delta: Mapping[str, str], scores: Any = None, reason: str = "") -> Event:
        made = {"index": choice, "delta": delta, "logprobs": scores, "finish_reason": reason or None}
        return "", {**head, "choices": [made], **usage}

    with held:
        async with writing(
            slots_of(prompt.version), _slot_prompts(body, prompt), stops_of(body.stop)
        ) as steps:
            async for each in steps:
                if each.choice not in sent:
                    sent[each.choice] = (0, 0)
                    yield event(each.choice, {"role": "assistant", "content": ""})
                if not each.fresh and not each.finish_reason:
                    continue
                first, size = sent[each.choice]
                tokens = await _scores(body, prompt, each, first, size)
                sent[each.choice] = (first + len(tokens), size + sum(len(token.text) for token in tokens))
                scores = _formed(body, tokens)
                if each.fresh:
                    yield event(each.choice, {"content": each.fresh}, scores)
                if each.finish_reason:
                    rest = scores if tokens and not each.fresh else None
                    yield event(each.choice, {}, rest, each.finish_reason)
                    written += each.slot.written
        if has_usage:
            yield "", {**head, "choices": [], "usage": _usage(prompt, written)}
