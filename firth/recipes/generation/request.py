"""Parameters of one request for a written text, for any model."""

from collections.abc import Mapping
from typing import Annotated, Any

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.recipe_type import MAX_SIZE, Config
from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.generation.constraints import AnyConstraint, Constraint
from firth.recipes.generation.samplers import AnySampler, Greedy, Sampling

_FINITE = pydantic.Field(ge=-1e4, le=1e4)
# Two words of 32 bits.
_SEED = pydantic.Field(ge=0, lt=2**63)
# Keys that KerasHub and transformers have for the same, and the ones here.
_NAMES_ELSEWHERE = {
    "do_sample": "temperature",
    "eos_token_id": "stop",
    "max_length": "max_new_tokens, without those of the prompt",
    "min_length": "min_new_tokens, without those of the prompt",
    "num_beams": "beams",
    "num_return_sequences": "n_best, next to beams",
    "stop_strings": "stop",
    "stop_token_ids": "stop",
}


class GenerationRequest(Config):
    """Parameters of a text that is written after a prompt.

    Example:

    >>> GenerationRequest(max_new_tokens=0)
    Traceback (most recent call last):
        ...
    ValueError: GenerationRequest: max_new_tokens: must be greater than or equal to 1, not 0
    """

    max_new_tokens: Annotated[int, pydantic.Field(ge=1, le=MAX_SIZE)] = 64
    """Most tokens to write, the end among them."""
    sampler: AnySampler = Greedy()
    """Way to choose tokens."""
    repetition_penalty: Annotated[float, pydantic.Field(gt=0.0, le=1e4)] = 1.0
    """Number that the logit of a token which occurs in the text so far, the prompt included, is divided by
    where it is above zero, and multiplied by where it is below (Keskar et al. 2019, section 4.1); 1 for none.
    Next to an encoder the text so far is that of the decoder, with what it starts from."""
    presence_penalty: Annotated[float, _FINITE] = 0.0
    """Number taken off the logit of a token that has been written before; 0 for none."""
    frequency_penalty: Annotated[float, _FINITE] = 0.0
    """Number taken off the logit of a token for each time that it has been written before; 0 for none."""
    no_repeat_ngram_size: Annotated[int, pydantic.Field(ge=0, le=MAX_SIZE)] = 0
    """Number of tokens of the runs that come at most once in the text so far, as `repetition_penalty` reads
    it (Paulus et al. 2018, section 2.5); 0 for none."""
    min_new_tokens: Annotated[int, pydantic.Field(ge=0, le=MAX_SIZE)] = 0
    """Least number of tokens to write before the end."""
    logit_bias: Mapping[str, Annotated[float, _FINITE]] = {}
    """Number added to the logit of a token, by the token as the vocabulary has it."""
    stop: tuple[Annotated[str, pydantic.Field(min_length=1)], ...] = ()
    """Texts before the first of which the written text ends."""
    constraint: AnyConstraint | None = None
    """Schema, regular expression, choices or grammar that the text is held to."""
    finish: bool = False
    """True to write only tokens after which the constraint can still be met within `max_new_tokens`."""
    seed: Annotated[int, _SEED] = 0
    """Seed of what is drawn; the same request with the same seed gives the same text."""
    log_probabilities: bool = False
    """True if the logarithm of each written token's probability is wanted."""
    prompt_log_probabilities: bool = False
    """True if that of each of the prompt's tokens is wanted, after those before it."""

    @pydantic.model_validator(mode="after")
    def _check(self) -> "GenerationRequest":
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError(
                f"min_new_tokens is {self.min_new_tokens}, more than max_new_tokens, {self.max_new_tokens}"
            )
        if self.finish and self.constraint is None:
            raise ValueError("finish needs a constraint that the text is to meet")
        return self

    @classmethod
    def with_values(cls, values: Mapping[str, Any]) -> "GenerationRequest":
        """Returns a request of plain values, in which a sampler's own may stand next to the others.

        A sampler's value without a sampler, such as `temperature`, asks for the first kind that has it. A
        single text is a `stop` too. `schema`, `regex`, `choices` and `grammar` are constraints.

        Raises:
            ValueError: for a key or a value that does not fit, with the nearest valid name.

        Example:

        >>> GenerationRequest.with_values({"top_k": 5, "seed": 1}).sampler
        Sampling(kind='sample', temperature=1.0, top_k=5, top_p=1.0, min_p=0.0, typical_p=1.0)
        >>> GenerationRequest.with_values({"max_new_token": 5})
        Traceback (most recent call last):
            ...
        ValueError: GenerationRequest: max_new_token: unknown key; did you mean max_new_tokens?
        >>> GenerationRequest.with_values({"choices": ["yes", "no"]}).constraint
        TextChoices(kind='choices', choices=('yes', 'no'))
        """
        return cls._of_plain({}, values)

    def with_changes(self, values: Mapping[str, Any]) -> "GenerationRequest":
        """Returns this request with other values, which stand as in `with_values`.

        Raises:
            ValueError: as `with_values` does.

        Example:

        >>> GenerationRequest(seed=3).with_changes({"max_new_tokens": 9}).seed
        3
        >>> GenerationRequest().with_changes({"beams": 4}).sampler.kind
        'beam'
        """
        base = {**self.model_dump(exclude={"constraint"}), "constraint": self.constraint}
        return self._of_plain(base, values) if values else self

    @classmethod
    def _of_plain(cls, base: Mapping[str, Any], values: Mapping[str, Any]) -> "GenerationRequest":
        cls._check_keys(values)
        values = _with_constraint(values)
        said = {key: value for key, value in values.items() if key in cls.model_fields}
        if isinstance(sampler := said.get("sampler"), str):
            if sampler in _names_of_samplers():
                raise ValueError(
                    f"{cls.__name__}: sampler: {sampler!r} is a value of a sampler; give {sampler} itself"
                )
            said["sampler"] = {"kind": sampler}
        of_sampler = {key: value for key, value in values.items() if key not in cls.model_fields}
        if isinstance(said.get("stop"), str):
            said["stop"] = [said["stop"]]
        if of_sampler:
            sampler = said.get("sampler")
            plain = sampler.model_dump() if isinstance(sampler, Config) else sampler
            said["sampler"] = {"kind": _kind_with(of_sampler), **(plain or {}), **of_sampler}
        given = {**base, **said}
        if not isinstance(given.get("constraint"), Constraint):
            return cls.of(given)
        # A schema need not be Unicode, nor flat: the gate names the place of what is wrong.
        apart: dict[str, Any] = {name: given.pop(name) for name in ("constraint", "finish") if name in given}
        others = cls.of(given)
        values_of_all: dict[str, Any] = {name: getattr(others, name) for name in cls.model_fields}
        values_of_all.update(apart)
        return cls(**values_of_all)

    @classmethod
    def _check_keys(cls, values: Mapping[str, Any]) -> None:
        """Raises ValueError for a key that neither the request nor a sampler has."""
        valid = dict.fromkeys((*cls.model_fields, *_names_of_samplers(), *_constraints_by_keyword()))
        for key in values:
            if key not in valid:
                here = _NAMES_ELSEWHERE.get(key)
                hint = f"here it is {here}" if here else suggest(key, valid)
                raise ValueError(f"{cls.__name__}: {key}: unknown key; {hint}")


def _names_of_samplers() -> list[str]:
    return [name for each in configs_in(AnySampler) for name in each.model_fields]


def _constraints_by_keyword() -> dict[str, type[Constraint]]:
    types: list[Any] = configs_in(AnyConstraint)
    return {each.keyword: each for each in types}


def _with_constraint(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values in which a constraint that is given by its own value alone is a constraint."""
    types = _constraints_by_keyword()
    named = [key for key in values if key in types]
    found = {key: value for key, value in values.items() if key not in types}
    if len(named) + ("constraint" in values) > 1:
        raise ValueError(f"{named[0]}: a text is held to one constraint, and another one is given")
    for key in named:
        found["constraint"] = _made(types[key], {types[key].value_key: values[key]})
    plain = found.get("constraint")
    for each in types.values():
        if isinstance(plain, Mapping) and plain.get("kind") in kinds_of(each):
            found["constraint"] = _made(each, plain)
    return found


def _made(kind: type[Constraint], values: Mapping[str, Any]) -> Constraint:
    plain: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in values.items()
    }
    return kind(**plain)


def _kind_with(values: Mapping[str, Any]) -> str:
    """Returns the first kind of sampler that has all of some values, or else `sample`, which refuses them."""
    types: list[Any] = configs_in(AnySampler)
    fitting = [kind for each in types if values.keys() <= each.model_fields.keys() for kind in kinds_of(each)]
    return fitting[0] if fitting else kinds_of(Sampling)[0]
