"""POST /v1/completions: texts after prompts that are texts or tokens."""

import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import pydantic
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firth.constraints.matcher import CompiledConstraint
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import read_body
from firth.serving.server.models import Models
from firth.serving.server.openai.answering import Event, EventStream, Started, new_id
from firth.serving.server.openai.constraints import TextFormat, compiled, placed_constraint
from firth.serving.server.openai.log_probabilities import (
    NamedToken,
    certain,
    completion_form,
    named,
    of_value,
    prompt_tokens,
    written_tokens,
)
from firth.serving.server.openai.parameters import Count, Sampled, Stops, stops_of
from firth.serving.server.openai.slots import check_room, check_scores, check_top, reads_dialogues, slots_of
from firth.serving.server.openai.writing import (
    SoFar,
    finished,
    mean_log_probability,
    slot_prompts,
    writing,
)
from firth.serving.server.pieces import Pieces
from firth.serving.server.versions import ModelVersion

# Most tokens where a request does not name a number, as OpenAI's API has it.
_MOST = 16
_MOST_TOP = 5
_OBJECT = "text_completion"


class CompletionBody(Sampled):
    """Body of a request for texts after prompts."""

    prompt: Annotated[
        str | list[int] | list[str] | list[list[int]] | None, pydantic.Field(union_mode="left_to_right")
    ] = None
    """A text, its tokens, or a list of either; null for the beginning of a text."""
    max_tokens: Annotated[int, pydantic.Field(ge=0)] | None = None
    """Most tokens to write after each prompt, 16 where it is not given; 0 only with `echo`."""
    n: Count | None = None
    """Number of texts after each prompt."""
    best_of: Count | None = None
    """Number of texts that are written after each prompt, of which the likeliest `n` are answered."""
    echo: bool | None = None
    """True if the answer begins with the prompt."""
    logprobs: Annotated[int, pydantic.Field(ge=0, le=_MOST_TOP)] | None = None
    """Number of the likeliest tokens at each place; null for no log-probabilities."""
    stop: Stops | None = None
    """Texts before the first of which a text ends."""
    suffix: str | None = None
    """Text after the written one."""
    response_format: TextFormat | None = None
    """Form of the text."""

    neutral: ClassVar[Any] = {**Sampled.neutral, "suffix": ("",)}


class _Asked(NamedTuple):
    body: CompletionBody
    version: ModelVersion
    pieces: Pieces
    prompts: Sequence[tuple[int, ...]]
    texts: Sequence[str]
    """Texts that the answers begin with."""
    echoed: Sequence[Sequence[NamedToken]]
    """Tokens that their log-probabilities begin with."""
    constraint: CompiledConstraint | None

    @property
    def choices(self) -> int:
        return self.body.n or 1

    @property
    def candidates(self) -> int:
        return self.body.best_of or self.choices

    @property
    def most(self) -> int:
        return _MOST if self.body.max_tokens is None else self.body.max_tokens


async def completions(request: Request, models: Models) -> Response:
    """Answers a request for texts after prompts."""
    body = await read_body(CompletionBody, request)
    _check(body)
    with contextlib.ExitStack() as held:
        version = held.enter_context(models.lease(body.model))
        asked = await _asked(body, version)
        if body.stream:
            events = _events(asked, held.pop_all())
            return EventStream(await Started.of(events), "[DONE]")
        return JSONResponse(await _whole(asked))


def _check(body: CompletionBody) -> None:
    if (body.best_of or body.n or 1) < (body.n or 1):
        raise RequestError(f"best_of: {body.best_of} is less than n, {body.n}", 400, "best_of")
    if body.stream and (body.best_of or 0) > (body.n or 1):
        raise RequestError("best_of: a text that is streamed cannot be chosen among several", 400, "best_of")
    body.check_stream()
    if body.max_tokens == 0 and not body.echo:
        raise RequestError("max_tokens: 0 only with echo", 400, "max_tokens")
    if body.echo and (body.logprobs or 0) > 1:
        raise RequestError(
            "logprobs: with echo at most 1, the likeliest token of each place", 400, "logprobs"
        )


async def _asked(body: CompletionBody, version: ModelVersion) -> _Asked:
    slots = slots_of(version)
    held = placed_constraint(body.structured_outputs, body.response_format, "response_format", body.stop)
    constraint = await compiled(slots, held)
    pieces = Pieces(version)
    prompts, texts = await _prompts(body, version, pieces)
    if body.logprobs is not None:
        check_scores(slots.described, "logprobs")
    if (body.best_of or 1) > (body.n or 1):
        check_scores(slots.described, "best_of")
    check_top(slots.described, body.logprobs or 0, "logprobs")
    echoed: list[list[NamedToken]] = [[] for _ in prompts]
    if body.echo and body.logprobs is not None:
        scored = await prompt_tokens(version, prompts, "echo")
        echoed = [await named(pieces, (), each, body.logprobs) for each in scored]
    begun = texts if body.echo else [""] * len(prompts)
    return _Asked(body, version, pieces, prompts, begun, echoed, constraint)


async def _prompts(
    body: CompletionBody, version: ModelVersion, pieces: Pieces
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Returns the tokens of all prompts, and their texts."""
    given: Any = "" if body.prompt is None else body.prompt
    if given == []:
        raise RequestError("prompt: it is an empty list", 400, "prompt")
    is_list = isinstance(given, list) and not isinstance(given[0], int)
    # Before any of them is read.
    check_room(slots_of(version), (len(given) if is_list else 1) * (body.best_of or body.n or 1), "prompt")
    prompts, texts = [], []
    for each in given if is_list else [given]:
        if isinstance(each, str):
            if reads_dialogues(slots_of(version).described):
                raise RequestError(
                    f"prompt: {version.name} learned dialogues; /v1/chat/completions asks it", 400, "prompt"
                )
            prompts.append(await pieces.framed(each, "prompt"))
            texts.append(each)
        else:
            prompts.append(pieces.checked(each, "prompt"))
            texts.append(await pieces.text(each) if body.echo else "")
    return prompts, texts


def _slot_prompts(asked: _Asked) -> list[Any]:
    seed = asked.body.seed if asked.body.seed is not None else secrets.randbits(62)
    described = slots_of(asked.version).described
    return slot_prompts(
        asked.body,
        described,
        asked.prompts,
        ("max_tokens", asked.most),
        asked.constraint,
        choices=asked.candidates,
        seed=seed,
    )


async def _whole(asked: _Asked) -> dict[str, Any]:
    found: list[SoFar] = []
    if asked.most:
        slots = slots_of(asked.version)
        found = await finished(slots, _slot_prompts(asked), stops_of(asked.body.stop))
    made, size = [], asked.candidates
    for number in range(len(asked.prompts)):
        own = found[number * size : (number + 1) * size]
        best = sorted(own, key=lambda each: -mean_log_probability(each.slot)) if size > asked.choices else own
        for place in range(asked.choices):
            written = best[place] if best else None
            made.append(await _choice(asked, number, number * asked.choices + place, written))
    written_count = sum(each.slot.written for each in found)
    return {**_head(asked), "choices": made, "usage": _usage(asked, written_count)}


def _head(asked: _Asked) -> dict[str, Any]:
    return {"id": new_id("cmpl"), "object": _OBJECT, "created": int(time.time()), "model": asked.body.model}


def _usage(asked: _Asked, written: int) -> dict[str, int]:
    read = sum(map(len, asked.prompts))
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


async def _choice(asked: _Asked, prompt: int, index: int, written: SoFar | None) -> dict[str, Any]:
    """Returns a whole text; without any token where none was asked for."""
    text, echoed = asked.texts[prompt], list(asked.echoed[prompt])
    if written is None:
        return _made(asked, index, text, echoed, 0, "length")
    tokens = await _tokens(asked, prompt, written, 0)
    kept = [*echoed, *certain(tokens, written, 0)]
    return _made(asked, index, text + written.text, kept, 0, written.finish_reason)


async def _tokens(asked: _Asked, prompt: int, written: SoFar, first: int) -> list[NamedToken]:
    """Returns the tokens of a written text from a place on, if their log-probabilities are asked for."""
    if asked.body.logprobs is None:
        return []
    tokens = written_tokens(written.slot, asked.pieces.end_id)
    before = [*asked.prompts[prompt], *(each.id for each in tokens[:first])]
    found = await named(asked.pieces, before, tokens[first:], asked.body.logprobs)
    return of_value(found) if asked.constraint is not None and not first else found


def _made(
    asked: _Asked, index: int, text: str, tokens: Sequence[NamedToken], offset: int, reason: str
) -> dict[str, Any]:
    has_scores, has_top = asked.body.logprobs is not None, bool(asked.body.logprobs)
    scores = completion_form(tokens, offset, has_top) if has_scores else None
    return {"index": index, "text": text, "logprobs": scores, "finish_reason": reason or None}


async def _events(asked: _Asked, held: contextlib.ExitStack) -> AsyncGenerator[Event, None]:
    head, written = _head(asked), 0
    options = asked.body.stream_options
    has_usage = options is not None and bool(options.include_usage)
    usage: dict[str, Any] = {"usage": None} if has_usage else {}
    # Numbers of tokens and of characters that were sent, by text.
    sent: dict[int, tuple[int, int]] = {}

    def event(choice: dict[str, Any]) -> Event:
        return "", {**head, "choices": [choice], **usage}

    with held:
        prompts = _slot_prompts(asked) if asked.most else []
        async with writing(slots_of(asked.version), prompts, stops_of(asked.body.stop)) as steps:
            for index in range(len(asked.prompts) * asked.choices if asked.body.echo else 0):
                prompt = index // asked.choices
                text, reason = asked.texts[prompt], "" if asked.most else "length"
                yield event(_made(asked, index, text, asked.echoed[prompt], 0, reason))
            async for each in steps:
                if not each.fresh and not each.finish_reason:
                    continue
                first, size = sent.get(each.choice, (0, 0))
                prompt = each.choice // asked.choices
                tokens = certain(await _tokens(asked, prompt, each, first), each, size)
                written += each.slot.written if each.finish_reason else 0
                offset = len(asked.texts[prompt]) + size
                yield event(_made(asked, each.choice, each.fresh, tokens, offset, each.finish_reason))
                sent[each.choice] = (first + len(tokens), size + sum(len(token.text) for token in tokens))
        if has_usage:
            yield "", {**head, "choices": [], "usage": _usage(asked, written)}
