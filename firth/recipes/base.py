"""The base of every recipe type: frozen, strict, and with unknown keys refused."""

from typing import Annotated

import pydantic

Fraction = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]


class Config(pydantic.BaseModel):
    """A part of a recipe.

    Values are frozen, unknown keys are errors and types are not coerced (`"500"` is no integer).

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

    @classmethod
    def from_json(cls, text: str):
        """Returns the part that `to_json` wrote.

        Raises:
            pydantic.ValidationError: if the text does not describe this type.
        """
        return cls.model_validate_json(text)
