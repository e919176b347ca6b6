"""Constraints that a written text is held to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

import pydantic

from firth.recipes.base.recipe_type import Config

# Characters of white space in one place. Models write them without end where nothing bounds them.
_MOST_WHITE_SPACE = 1_024
WhiteSpace = Literal["compact", "single"] | Annotated[int, pydantic.Field(ge=1, le=_MOST_WHITE_SPACE)]


class Constraint(Config):
    """The base of the constraints of a written text."""

    keyword: ClassVar[str]
    """Name in calls, where its value alone is given."""
    value_key: ClassVar[str]
    """Key of that value."""

    if TYPE_CHECKING:
        kind: str

    @property
    def of_json(self) -> "JsonSchema | None":
        """The constraint if it is a schema."""
        return None

    @property
    def expression(self) -> str | None:
        """Regular expression of the whole text, if it has one alone."""
        return None

    @property
    def texts(self) -> tuple[str, ...]:
        """All valid texts, if they are listed."""
        return ()

    @property
    def lark(self) -> str | None:
        """Grammar in Lark's notation, if it has one."""
        return None


class JsonSchema(Constraint):
    """The text is JSON that is valid by a schema (draft 2020-12)."""

    keyword: ClassVar[str] = "schema"
    value_key: ClassVar[str] = "json_schema"

    kind: Literal["json_schema"] = "json_schema"
    json_schema: Mapping[str, Any] | bool
    """The schema."""
    white_space: WhiteSpace = "compact"
    """White space between the parts of the JSON: `compact` for none, `single` for a space after `:` and after
    `,`, or the most characters in one place."""

    @pydantic.field_validator("json_schema", mode="before")
    @classmethod
    def _check_schema(cls, value: Any) -> Any:
        if not isinstance(value, Mapping | bool):
            raise ValueError(f"a schema is a mapping, or true or false, not {value!r:.40}")
        return value

    @pydantic.field_validator("white_space", mode="before")
    @classmethod
    def _check_white_space(cls, value: Any) -> Any:
        is_number = str(value).isdecimal() and 1 <= int(value) <= _MOST_WHITE_SPACE
        if value in ("compact", "single") or is_number:
            return value
        most = f"{_MOST_WHITE_SPACE:,}"
        raise ValueError(f"must be compact, single, or a number from 1 to {most}, not {value!r:.40}")

    @property
    def of_json(self) -> "JsonSchema":  # noqa: D102
        return self


class Regex(Constraint):
    """The whole text matches a regular expression, as Rust's crate `regex` reads it."""

    keyword: ClassVar[str] = "regex"
    value_key: ClassVar[str] = "pattern"

    kind: Literal["regex"] = "regex"
    pattern: Annotated[str, pydantic.Field(min_length=1)]
    """The regular expression, without look-around; it is anchored at both ends."""

    @property
    def expression(self) -> str:  # noqa: D102
        return self.pattern


class TextChoices(Constraint):
    """The text is one of some texts."""

    keyword: ClassVar[str] = "choices"
    value_key: ClassVar[str] = "choices"

    kind: Literal["choices"] = "choices"
    choices: Annotated[tuple[Annotated[str, pydantic.Field(min_length=1)], ...], pydantic.Field(min_length=1)]
    """The texts."""

    @property
    def texts(self) -> tuple[str, ...]:  # noqa: D102
        return self.choices


class Grammar(Constraint):
    """The text is written by a context-free grammar."""

    keyword: ClassVar[str] = "grammar"
    value_key: ClassVar[str] = "grammar"

    kind: Literal["grammar"] = "grammar"
    grammar: Annotated[str, pydantic.Field(min_length=1)]
    """The grammar in Lark's notation, as llguidance reads it."""

    @property
    def lark(self) -> str:  # noqa: D102
        return self.grammar


AnyConstraint = Annotated[
    Union[JsonSchema, Regex, TextChoices, Grammar], pydantic.Field(discriminator="kind")
]
