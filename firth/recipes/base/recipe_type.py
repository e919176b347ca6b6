"""The base of every recipe type: frozen, strict, and with unknown keys refused."""

import decimal
import json
import numbers
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar

import pydantic

from firth.recipes.base.problems import problems_of
from firth.recipes.base.types import configs_in, descriptions, kinds_of, suggest_kind

MAX_INTEGER = 2**63 - 1
# Far above anything published, and low enough that no tensor's shape overflows.
MAX_SIZE = 2**24
# Tokens that a row has at least.
SHORTEST_ROW = 8
Fraction = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
ConfigT = TypeVar("ConfigT", bound="Config")


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
