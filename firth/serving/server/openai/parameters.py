"""Parameters of requests that write texts: those that are honoured, those that do nothing, and the others."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import pydantic

from firth.serving.continuation import PARAMETERS
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body
from firth.serving.server.openai.constraints import StructuredOutputs

# A server of OpenAI takes as many of these at most.
_CHOICES = 128
_STOPS = 4
# Temperature where none is given, as OpenAI's API has it; a model's own default is the likeliest token.
_TEMPERATURE = 1.0
# Seeds of a slot are below it.
_SEEDS = 2**63

Count = Annotated[int, pydantic.Field(ge=1, le=_CHOICES)]
Bias = Annotated[float, pydantic.Field(ge=-100.0, le=100.0)]
Stops = str | list[str]


class StreamOptions(Body):
    """Options of a stream."""

    include_usage: bool | None = None
    """True for a last event with the numbers of tokens."""
    include_obfuscation: bool | None = None
    """Random characters against an attack on the sizes of packets; not honoured."""

    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = {"include_obfuscation": (False,)}


class Sampled(Body):
    """Parameters of a slot under the names that a client gives them; null for the model's default."""

    model: Annotated[str, pydantic.Field(min_length=1)]
    """Name of the model."""
    temperature: float | None = None
    """Number that logits are divided by; 0 for the likeliest token, 1 where it is not given."""
    top_p: float | None = None
    """Least probability, in sum, of the likeliest tokens that are kept."""
    seed: int | None = None
    """Seed of what is drawn; drawn itself where it is not given."""
    top_k: int | None = None
    """Number of likeliest tokens that are kept; 0 or -1 for all."""
    min_p: float | None = None
    """Least probability of a token next to that of the likeliest."""
    typical_p: float | None = None
    """Share of the most typical tokens that are kept."""
    repetition_penalty: float | None = None
    """Number that the logits of tokens are divided by that the text has."""
    no_repeat_ngram_size: int | None = None
    """Number of tokens of runs that come at most once."""
    min_tokens: Annotated[int, pydantic.Field(ge=0)] | None = None
    """Least number of tokens before the end, as vLLM's clients name it."""
    presence_penalty: float | None = None
    """Number taken off the logit of a token that was written before."""
    frequency_penalty: float | None = None
    """Number taken off the logit of a token for each time that it was written before."""
    logit_bias: dict[int, Bias] | None = None
    """Number added to the logit of a token, by its id; as many tokens as a slot has biases."""
    structured_outputs: StructuredOutputs | None = None
    """Schema, regular expression, choices or grammar that the text is held to, as vLLM's clients send it."""
    stream: bool | None = None
    """True for an answer in server-sent events."""
    stream_options: StreamOptions | None = None
    """Options of a stream."""
    user: str | None = None
    """Name of an end user."""
    service_tier: str | None = None
    """Class of service of a provider."""
    prompt_cache_key: str | None = None
    """Name of prompts with the same beginning."""
    prompt_cache_options: dict[str, Any] | None = None
    """Hints for a cache of prompts."""
    prompt_cache_retention: str | None = None
    """Hint for a cache of prompts."""
    safety_identifier: str | None = None
    """Name of an end user."""
    metadata: dict[str, str] | None = None
    """Labels of the request, for its sender."""

    ignored: ClassVar[tuple[str, ...]] = (
        "user",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "metadata",
    )
    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = {"service_tier": ("auto", "default")}

    def check_stream(self) -> None:
        """Raises `RequestError` for options of a stream where none is asked for."""
        if self.stream_options is not None and not self.stream:
            raise RequestError("stream_options: only with stream", 400, "stream_options")

    def controls(self, described: Mapping[str, Any]) -> dict[str, float]:
        """Returns values of the parameters of slots by name, without tokens to write and without the seed.

        Args:
            described: Parameters of the model's slots.

        Raises:
            RequestError: for a parameter that this model does not have.
        """
        found: dict[str, float] = {}
        for name in _OF_SLOTS:
            value = getattr(self, name)
            if value is None:
                continue
            if self._has(described, name, value, name):
                found[name] = value
        if self.min_tokens is not None and self._has(described, _LEAST, self.min_tokens, "min_tokens"):
            found[_LEAST] = self.min_tokens
        if found.get("top_k") == -1:
            found["top_k"] = 0
        return {"temperature": _TEMPERATURE, **found}

    def _has(self, described: Mapping[str, Any], name: str, value: float, given_as: str) -> bool:
        """Returns whether a model has a parameter; of others the default alone is accepted."""
        if name not in described and value != PARAMETERS[name].default:
            raise RequestError(
                f"{given_as}: {self.model} has no such parameter; it has {', '.join(described)}",
                400,
                given_as,
            )
        return name in described

    def biases(self, described: Mapping[str, Any]) -> dict[int, float]:
        """Returns the biases of tokens by their ids.

        Args:
            described: Description of the model's slots.

        Raises:
            RequestError: for too many, and for a token that there is not.
        """
        found, most, rows = self.logit_bias or {}, described.get("biases", 0), described["vocabulary"]
        if len(found) > most:
            raise RequestError(
                f"logit_bias: {len(found)} tokens; the slots of {self.model} have {most} biases",
                400,
                "logit_bias",
            )
        for each in found:
            if not 0 <= each < rows:
                raise RequestError(
                    f"logit_bias: there is no token {each}; ids are at least 0 and below {rows}",
                    400,
                    "logit_bias",
                )
        return found


# The parameter of slots for `min_tokens`.
_LEAST = "min_new_tokens"
_OF_SLOTS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "typical_p",
    "repetition_penalty",
    "no_repeat_ngram_size",
    "presence_penalty",
    "frequency_penalty",
)


def stops_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Returns the texts before the first of which a written text ends.

    Raises:
        RequestError: for an empty one, and for more than four.
    """
    stops = (given,) if isinstance(given, str) else tuple(given or ())
    if "" in stops:
        raise RequestError("stop: a text to stop at is empty", 400, "stop")
    if len(stops) > _STOPS:
        raise RequestError(f"stop: {len(stops)} texts; at most {_STOPS}", 400, "stop")
    return stops


def seed_of(seed: int, choice: int) -> int:
    """Returns the seed of one of several texts after a prompt; the first has that of the request.

    Example:

    >>> seed_of(7, 0), seed_of(7, 2), seed_of(-1, 0) == 2**63 - 1
    (7, 9, True)
    """
    return (seed + choice) % _SEEDS
