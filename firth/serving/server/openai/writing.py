"""Texts that slots write for a request: several at once, each cut at the first text to stop at."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from firth.constraints.matcher import CompiledConstraint
from firth.serving.parameter import values_of
from firth.serving.server.errors import RequestError
from firth.serving.server.openai.parameters import Sampled, seed_of
from firth.serving.server.slot_queue import SlotQueue, SlotStream
from firth.serving.slots.batcher import SlotPrompt, SlotText

# Number of tokens to write, as slots name it.
_MOST = "max_new_tokens"


# Clients know no other word for a text that is not whole.
_REASONS = {"end": "stop", "stuck": "length"}


class SoFar(NamedTuple):
    """A text after one more token.

    Attributes:
        choice: Number of the text among all of a request.
        text: The text so far that is certain: cut at a stop, and without an end that may become one.
        fresh: The end of it that is new.
        slot: The text as its slot has it.
        finish_reason: `stop` or `length`; empty while it is written.
    """

    choice: int
    text: str
    fresh: str
    slot: SlotText
    finish_reason: str


class StopTexts:
    """Cuts a text that is being written before the first of some texts.

    Args:
        stops: The texts.

    Example:

    >>> cut = StopTexts(["END"])
    >>> [cut.visible(text, False) for text in ("a E", "a EN", "a ENd", "a ENdEND")]
    [('a ', False), ('a ', False), ('a ENd', False), ('a ENd', True)]
    >>> cut.visible("a EN", True)
    ('a EN', False)
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops

    def visible(self, text: str, has_ended: bool) -> tuple[str, bool]:
        """Returns the part of a text that is certain, and whether a stop follows it.

        Args:
            text: The text so far.
            has_ended: True if nothing more is written.
        """
        places = [place for each in self._stops if (place := text.find(each)) >= 0]
        if places:
            return text[: min(places)], True
        held = 0 if has_ended else max((_begun(text, each) for each in self._stops), default=0)
        return text[: len(text) - held], False


def _begun(text: str, stop: str) -> int:
    """Returns the number of characters at the end of a text that a stop may begin with."""
    longest = min(len(stop) - 1, len(text))
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)


def slot_prompts(
    body: Sampled,
    described: Mapping[str, Any],
    prompts: Sequence[Sequence[int]],
    most: tuple[str, int],
    constraint: CompiledConstraint | None,
    **wanted: int,
) -> list[SlotPrompt]:
    """Returns the prompts of all choices, those of the first prompt first.

    Args:
        body: Parameters of the request.
        described: Description of the model's slots.
        prompts: Tokens of each prompt.
        most: Name and value of the parameter with the number of tokens to write.
        constraint: Constraint that all texts are held to; None for free ones.
        **wanted: `choices` after each prompt, `seed` of the first choice.

    Raises:
        RequestError: for a parameter that the slots do not have.
    """
    values, biases = body.controls(described["parameters"]), body.biases(described)
    values[_MOST] = most[1]
    if (body.min_tokens or 0) > most[1]:
        raise RequestError(
            f"min_tokens: {body.min_tokens}, more than {most[0]}, {most[1]}", 400, "min_tokens"
        )
    _check_values(described["parameters"], values, most[0])
    return [
        SlotPrompt(
            parameters={**values, "seed": seed_of(wanted["seed"], choice)},
            constraint=constraint,
            ids=tuple(ids),
            logit_bias=biases,
        )
        for ids in prompts
        for choice in range(wanted["choices"])
    ]


def _check_values(described: Mapping[str, Any], values: Mapping[str, float], most: str) -> None:
    try:
        values_of(described, values, 1)
    except ValueError as error:
        name, _, problem = str(error).partition(":")
        # As the client has named it.
        name = most if name == _MOST else name
        raise RequestError(f"{name}:{problem}", 400, name) from None


@contextlib.asynccontextmanager
async def writing(
    slots: SlotQueue, prompts: Sequence[SlotPrompt], stops: Sequence[str]
) -> AsyncIterator[AsyncIterator[SoFar]]:
    """Gives each text after each of its tokens; the last time it has a reason to have finished.

    All slots are free again when the context ends.

    Args:
        slots: Queue of the model's slots.
        prompts: Prompts of all texts.
        stops: Texts before the first of which each text ends.

    Raises:
        RequestError: 429 if not all of them have room in the queue.
    """
    found: asyncio.Queue[SoFar | Exception] = asyncio.Queue()
    with contextlib.ExitStack() as given_up:
        for choice, prompt in enumerate(prompts):
            stream = slots.submit(prompt)
            given_up.callback(stream.cancel)
            task = asyncio.ensure_future(_follow(choice, stream, StopTexts(stops), found))
            given_up.callback(task.cancel)
        yield _steps(found, len(prompts))


async def _steps(found: "asyncio.Queue[SoFar | Exception]", running: int) -> AsyncIterator[SoFar]:
    while running:
        each = await found.get()
        if isinstance(each, Exception):
            raise each
        running -= bool(each.finish_reason)
        yield each


async def _follow(
    choice: int, stream: SlotStream, cut: StopTexts, found: "asyncio.Queue[SoFar | Exception]"
) -> None:
    sent = ""
    try:
        async for each in stream:
            text, is_stopped = cut.visible(each.text, bool(each.ended))
            reason = _REASONS.get(each.ended, each.ended) if not is_stopped else "stop"
            found.put_nowait(SoFar(choice, text, text[len(sent) :], each, reason))
            sent = text
            if reason:
                # Its slot is free for another text while the other choices are written.
                stream.cancel()
                return
        raise RuntimeError(f"the text of choice {choice} has no end")
    # Whatever fails, the request is answered.
    except Exception as error:
        found.put_nowait(error)


async def finished(slots: SlotQueue, prompts: Sequence[SlotPrompt], stops: Sequence[str]) -> list[SoFar]:
    """Returns all texts, in the order of their prompts, when the last one has finished.

    Raises:
        RequestError: as `writing` does.
    """
    last: dict[int, SoFar] = {}
    async with writing(slots, prompts, stops) as steps:
        async for each in steps:
            last[each.choice] = each
    return [last[choice] for choice in range(len(prompts))]


def mean_log_probability(text: SlotText) -> float:
    """Returns the mean of the logarithms of the probabilities of a text's tokens."""
    scores = text.log_probabilities
    return sum(scores) / len(scores) if scores else 0.0
