"""The base of every recipe type: frozen, strict, and with unknown keys refused."""

import decimal
from typing import Annotated, TypeVar

import pydantic

MAX_INTEGER = 2**63 - 1
# Far above anything published, and low enough that no tensor's shape overflows.
MAX_SIZE = 2**24
Fraction = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
ConfigT = TypeVar("ConfigT", bound="Config")


class Config(pydantic.BaseModel):
    """A part of a recipe.

    Values are frozen, unknown keys are errors and types are not coerced (`"500"` is not an integer).

    Example:

    >>> class Size(Config):
    ...     width: int
    >>> Size(width=4)
    Size(width=4)
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)

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

    Args:
        config: Part of a recipe.
        low: Name of the field that holds the smaller number.
        high: Name of the field that holds the larger number.

    Raises:
        ValueError: if the first number is above the second.

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
