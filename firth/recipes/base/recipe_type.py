"""The base of every recipe type: frozen, strict, with unknown keys refused; problems of values, by place."""

import decimal
import json
import numbers
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, TypeVar

import pydantic

from firth.recipes.base.errors import suggest
from firth.recipes.base.types import (
    config_at,
    configs_in,
    descriptions,
    key_paths,
    kind_named,
    kinds_of,
    kinds_with,
    suggest_kind,
    types_at,
)
from firth.recipes.base.yaml_text import Path

MAX_INTEGER = 2**63 - 1
# Far above anything published, and low enough that no tensor's shape overflows.
MAX_SIZE = 2**24
# Tokens that a row has at least.
SHORTEST_ROW = 8
Fraction = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
ConfigT = TypeVar("ConfigT", bound="Config")
MOST_PROBLEMS = 50
# The last part of pydantic's path where the key itself, and not its value, is refused.
_OF_KEY = "[key]"


class Config(pydantic.BaseModel):
    """A part of a recipe.

    Values are frozen, unknown keys are errors and types are not coerced (`"500"` is not an integer). The
    docstring under a field describes its key, in the types that inherit the field too; see `descriptions`.

    Raises:
        ValueError: with one line for each value that does not fit, and the nearest valid name.

    Example:

    >>> class Size(Config):
    ...     width: int = 8
    >>> Size(width=4)
    Size(width=4)
    >>> Size(widht=4)
    Traceback (most recent call last):
        ...
    ValueError: Size: widht: unknown key; did you mean width?
    """

    derived_keys: ClassVar[Mapping[str, str]] = {}
    """Keys that a recipe file may leave out, and what they then follow from, where it is not a default."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)

    # Pydantic's own message names no valid key, and `__init__` is also what parts of parts are made by.
    def __new__(cls: type[ConfigT], /, **values: Any) -> ConfigT:
        """Checks the values of a part that Python code makes; parts that are read have none here."""
        if values:
            try:
                cls.model_validate(values)
            except pydantic.ValidationError as error:
                raise _refusal(cls, error, _as_json(values)) from None
        return super().__new__(cls)

    @classmethod
    def of(cls: type[ConfigT], values: "ConfigT | Mapping[str, Any]") -> ConfigT:
        """Returns a part as it is, or the part that plain values describe, such as those of a layer's config.

        Args:
            values: Part of this type, or its values by field.

        Raises:
            ValueError: for values that the constructor refuses.

        Example:

        >>> class Size(Config):
        ...     widths: tuple[int, ...]
        >>> Size.of({"widths": [4, 8]}) == Size.of(Size(widths=(4, 8))) == Size(widths=(4, 8))
        True
        """
        if isinstance(values, cls):
            return values
        data = _as_json(values)
        try:
            return cls.model_validate_json(json.dumps(data))
        except pydantic.ValidationError as error:
            raise _refusal(cls, error, data) from None

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, make: pydantic.GetJsonSchemaHandler) -> dict[str, Any]:
        """Returns the JSON Schema of this type, with the docstring under each field as its description.

        Args:
            core: Pydantic's core schema.
            make: Pydantic's function from it to a JSON Schema.
        """
        schema = make(core)
        properties = make.resolve_ref_schema(schema).get("properties", {})
        for name, text in descriptions(cls).items():
            properties[name]["description"] = text
        return schema

    def to_json(self) -> str:
        """Returns this part as canonical JSON, fit to be an execution property or a cache key."""
        return self.model_dump_json()

    @pydantic.model_validator(mode="after")
    def _numbers_fit(self) -> "Config":
        for name, value in self:
            if type(value) is int and abs(value) > MAX_INTEGER:
                raise ValueError(f"{name}: {decimal.Decimal(value):.3g} does not fit in 64 bits")
        return self

    @classmethod
    def from_json(cls: type[ConfigT], text: str) -> ConfigT:
        """Returns the part that `to_json` wrote.

        Args:
            text: JSON of this type.

        Raises:
            pydantic.ValidationError: if the text does not describe this type.
        """
        return cls.model_validate_json(text)


def check_order(config: Config, low: str, high: str) -> None:
    """Checks that one number of a part is not above another.

    Example:

    >>> class Range(Config):
    ...     low: int
    ...     high: int
    >>> check_order(Range(low=2, high=1), "low", "high")
    Traceback (most recent call last):
        ...
    ValueError: low: 2 is above high: 1
    """
    first, second = getattr(config, low), getattr(config, high)
    if first > second:
        raise ValueError(f"{low}: {first:,} is above {high}: {second:,}")


def _as_json(values: Any) -> Any:
    """Returns values as they are after JSON, NumPy's numbers as plain ones; others are given as `repr`."""

    def plain(value: Any) -> Any:
        if isinstance(value, numbers.Real):
            return int(value) if isinstance(value, numbers.Integral) else float(value)
        return value.model_dump() if isinstance(value, Config) else repr(value)

    return json.loads(json.dumps(values, default=plain))


def _refusal(cls: type[Config], error: pydantic.ValidationError, data: Any) -> ValueError:
    found, more = problems_of(error, data, cls)
    lines = [": ".join([cls.__name__, *([".".join(path)] if path else []), text]) for path, text in found]
    return ValueError("\n".join([*lines, *([f"and {more} more problems"] if more else [])]))


def config_of(name: str, choices: Any, values: Any) -> Any:
    """Returns a part as it is, or the part that plain values describe, of the kind that they name.

    Example:

    >>> from firth.recipes.training.optimizers import AnyOptimizer
    >>> config_of("optimizer", AnyOptimizer, {"kind": "adam_w"}).kind
    Traceback (most recent call last):
        ...
    ValueError: optimizer: kind: unknown kind 'adam_w'; did you mean adamw?
    """
    by_kind: dict[str, Any] = {kind: config for config in configs_in(choices) for kind in kinds_of(config)}
    if isinstance(values, tuple(by_kind.values())):
        return values
    kind = values.get("kind") if isinstance(values, Mapping) else None
    if kind is None:
        raise ValueError(
            f"{name}: must be a mapping with a `kind`, one of: {', '.join(by_kind)}; not {values!r}"
        )
    if kind not in by_kind:
        raise ValueError(f"{name}: kind: unknown kind {kind!r}; {suggest_kind(str(kind), by_kind.values())}")
    return by_kind[kind].of(values)


def problems_of(
    error: pydantic.ValidationError, data: Any, root: type[pydantic.BaseModel]
) -> tuple[list[tuple[Path, str]], int]:
    """Returns the problems that pydantic found, in plain words, and the number of those that are left out.

    Example:

    >>> from firth.recipes import Training
    >>> try:
    ...     Training.model_validate({"stesp": 5})
    ... except pydantic.ValidationError as error:
    ...     problems_of(error, {"stesp": 5}, Training)
    ([(('stesp',), 'unknown key; did you mean steps?')], 0)
    """
    errors = error.errors(include_url=False)
    found = [(_data_path(details["loc"], data), details) for details in errors[:MOST_PROBLEMS]]
    told = []
    for path, details in found:
        # A list whose items are all refused counts as empty; its items' problems say enough.
        is_echo = any(other[: len(path)] == path and other != path for other, _ in found)
        if not (is_echo and details["type"] == "too_short"):
            told += [(path, problem) for problem in _problems(details, path, data, root)]
    return told, len(errors) - len(found)


def _data_path(location: tuple[int | str, ...], data: Any) -> Path:
    """Returns the path in the data; pydantic's also names the kind that a union chose, and marks bad keys."""
    path: list[str] = []
    for step in location:
        if isinstance(data, dict) and step not in data and step == data.get("kind"):
            continue
        if step == _OF_KEY and not (isinstance(data, dict) and step in data):
            continue
        path.append(str(step))
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int):
            data = data[step]
    return tuple(path)


def _problems(
    details: Mapping[str, Any], path: Path, data: Any, root: type[pydantic.BaseModel]
) -> Iterator[str]:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        yield f"unknown key; {_nearest_key(path, data, root)}"
    elif kind == "missing":
        yield "required, but not given"
    elif kind == "union_tag_invalid":
        tag = context["tag"]
        named = kind_named(str(tag), types_at(root, path, data))
        known = f"{named} is its name here" if named else suggest(tag, _quoted(context["expected_tags"]))
        yield f"kind: unknown kind {tag!r}; {known}"
    elif kind == "union_tag_not_found":
        yield f"must be a mapping with a `kind`, not {_short(details['input'])}"
    elif kind == "literal_error":
        given = details["input"]
        yield f"{_short(given)} is not a choice here; {suggest(str(given), _quoted(context['expected']))}"
    elif kind == "value_error":
        yield from str(context["error"]).splitlines()
    else:
        message = re.sub(r"^\w+ should ", "must ", details["msg"])
        message = message.replace("a valid array", "a list").replace("an object", "a mapping")
        yield message if ", not " in message else f"{message}, not {_short(details['input'])}"


def _nearest_key(path: Path, data: Any, root: type[pydantic.BaseModel]) -> str:
    parent = config_at(root, path[:-1], data)
    siblings = list(parent.model_fields) if parent else []
    advice = suggest(path[-1], siblings)
    if not advice.startswith("one of"):
        return advice
    if kinds := kinds_with(root, path, data):
        return f"a part of kind: {', '.join(kinds)} has it"
    elsewhere = [key for key in key_paths(root) if key.split(".")[-1] == path[-1]]
    return f"did you mean {elsewhere[0]}?" if elsewhere else advice


def _quoted(text: Any) -> list[str]:
    return re.findall(r"'([^']*)'", str(text))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
