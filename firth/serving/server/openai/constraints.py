"""Constraints of written texts, as OpenAI's clients send them, and as vLLM's do."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pydantic

from firth.constraints.constraint_cache import compiled_or_raised
from firth.constraints.matcher import CompiledConstraint, ConstraintError
from firth.constraints.schemas import parse_schema
from firth.recipes.generation.constraints import Constraint, Grammar, JsonSchema, Regex, TextChoices
from firth.serving.server.errors import RequestError
from firth.serving.server.json_requests import Body
from firth.serving.server.slot_queue import SlotQueue

AnySchema = dict[str, Any] | bool


class Placed(NamedTuple):
    """A constraint of a request.

    Attributes:
        place: Path of its value in the request.
        constraint: The constraint.
        finish: True if the text has to end within its tokens.
    """

    place: str
    constraint: Constraint
    finish: bool = False

    @property
    def parameter(self) -> str:
        """Name of the parameter that has it."""
        return self.place.partition(".")[0]


class SchemaFormat(Body):
    """A schema with its name."""

    name: str | None = None
    """Name of the schema, for the client."""
    schema_: Annotated[AnySchema | None, pydantic.Field(alias="schema")] = None
    """The schema (draft 2020-12)."""
    strict: bool | None = None
    """Whether the schema is followed to the letter; here it always is."""
    description: str | None = None
    """Meaning of the text, for the client."""

    ignored: ClassVar[tuple[str, ...]] = ("name", "strict", "description")


class TextFormat(SchemaFormat):
    """Form of the written text."""

    type: Literal["text", "json_object", "json_schema"]
    """`text` for any, `json_object` for any JSON object, `json_schema` for JSON that is valid by a schema."""
    json_schema: SchemaFormat | None = None
    """The schema with its name, as completions and chat completions have it."""

    def constraint(self, place: str) -> Placed | None:
        """Returns the constraint of the text; None for any text.

        Args:
            place: Name of the parameter in the request.

        Raises:
            RequestError: for a schema that is missing, or is given for another form.
        """
        parameter = place.partition(".")[0]
        given = {"json_schema": self.json_schema, "schema": self.schema_}
        if self.type != "json_schema":
            for name, value in given.items():
                if value is not None:
                    raise RequestError(f"{place}.{name}: only where type is json_schema", 400, parameter)
            any_object = JsonSchema(json_schema={"type": "object"})
            return Placed(place, any_object) if self.type == "json_object" else None
        # The API of responses has its fields in the form itself.
        name = "json_schema.schema" if self.json_schema is not None or parameter != "text" else "schema"
        schema = self.schema_ if self.json_schema is None else self.json_schema.schema_
        if schema is None:
            raise RequestError(f"{place}.{name}: required", 400, parameter)
        return Placed(f"{place}.{name}", JsonSchema(json_schema=schema))


class StructuredOutputs(Body):
    """Constraint of the written text, one of `json`, `regex`, `choice`, `grammar` and `json_object`."""

    json_: Annotated[AnySchema | str | None, pydantic.Field(alias="json")] = None
    """A schema, or its text."""
    regex: Annotated[str, pydantic.Field(min_length=1)] | None = None
    """Regular expression that the whole text matches."""
    choice: (
        Annotated[list[Annotated[str, pydantic.Field(min_length=1)]], pydantic.Field(min_length=1)] | None
    ) = None
    """Texts of which it is one."""
    grammar: Annotated[str, pydantic.Field(min_length=1)] | None = None
    """Grammar in Lark's notation."""
    json_object: bool | None = None
    """True for any JSON object."""
    finish: bool | None = None
    """True for only tokens after which the text can still be ended within the tokens that it may have."""
    disable_any_whitespace: bool | None = None
    """Whether JSON is written without white space; here it always is."""
    disable_fallback: bool | None = None
    """Whether no other engine is tried; here there is none."""
    disable_additional_properties: bool | None = None
    """Whether a schema's objects have no other properties; schemas say it themselves."""
    whitespace_pattern: str | None = None
    """Regular expression of the white space in JSON."""
    structural_tag: Any = None
    """Texts that begin and end constrained parts."""

    ignored: ClassVar[tuple[str, ...]] = ("disable_any_whitespace", "disable_fallback")
    neutral: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "disable_additional_properties": (False,),
        "whitespace_pattern": (),
        "structural_tag": (),
    }

    def constraint(self, place: str) -> Placed:
        """Returns the constraint.

        Args:
            place: Name of the parameter in the request.

        Raises:
            RequestError: for none and for several, and for an option that is not honoured.
        """
        for name, values in self.neutral.items():
            if (given := getattr(self, name)) is not None and given not in values:
                raise RequestError(
                    f"{place}.{name}: this server does not honour it; leave it out", 400, place
                )
        made: dict[str, Constraint] = {}
        if self.json_ is not None:
            made["json"] = JsonSchema(json_schema=_schema(self.json_, f"{place}.json"))
        if self.json_object:
            made["json_object"] = JsonSchema(json_schema={"type": "object"})
        if self.regex is not None:
            made["regex"] = Regex(pattern=self.regex)
        if self.choice is not None:
            made["choice"] = TextChoices(choices=tuple(self.choice))
        if self.grammar is not None:
            made["grammar"] = Grammar(grammar=self.grammar)
        if len(made) != 1:
            given = f"not {' and '.join(made)}" if made else "and there is none"
            raise RequestError(
                f"{place}: one of json, regex, choice, grammar and json_object, {given}", 400, place
            )
        ((name, constraint),) = made.items()
        return Placed(f"{place}.{name}", constraint, bool(self.finish))


def _schema(given: AnySchema | str, place: str) -> Any:
    if not isinstance(given, str):
        return given
    try:
        schema = parse_schema(given, place)
    except ConstraintError as error:
        raise RequestError(str(error), 400, place.partition(".")[0]) from None
    if not isinstance(schema, dict | bool):
        raise RequestError(f"{place}: a schema is an object or a boolean", 400, place.partition(".")[0])
    return schema


def placed_constraint(
    structured: StructuredOutputs | None, form: TextFormat | None, place: str, stops: Any = None
) -> Placed | None:
    """Returns the constraint of a request; None for a free text.

    Args:
        structured: Its parameter `structured_outputs`.
        form: Form of the text.
        place: Name of the parameter that has the form.
        stops: Texts to stop at.

    Raises:
        RequestError: if it cannot be honoured.
    """
    found = [
        each
        for each in (
            None if form is None else form.constraint(place),
            None if structured is None else structured.constraint("structured_outputs"),
        )
        if each is not None
    ]
    if len(found) > 1:
        raise RequestError(f"structured_outputs: next to {place} of another form", 400, "structured_outputs")
    if found and stops:
        raise RequestError(
            f"stop: it would cut a text that {found[0].place} holds; leave one of them out", 400, "stop"
        )
    return found[0] if found else None


async def compiled(slots: SlotQueue, placed: Placed | None) -> CompiledConstraint | None:
    """Returns a constraint as a model's slots need it; it is compiled in a thread of its own.

    Args:
        slots: Queue of the model's slots.
        placed: The constraint; None for a free text.

    Raises:
        RequestError: 400 with the place for a constraint that the model cannot be held to, 429 if too many
            constraints wait to be compiled.
    """
    if placed is None:
        return None
    try:
        made = slots.compile(placed.constraint, placed.finish)
        # The error that the cache keeps is not raised here, or it would hold the frames of each request.
        await asyncio.gather(asyncio.wrap_future(made), return_exceptions=True)
        return compiled_or_raised(made)
    except ConstraintError as error:
        raise RequestError(f"{placed.place}: {error}", 400, placed.parameter) from None
