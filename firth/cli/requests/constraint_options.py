"""Options of `firth generate` that hold a text to a constraint."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth.cli.output import ExitCode, fail, usage_errors

if TYPE_CHECKING:
    from firth.recipes.generation.constraints import AnyConstraint

_PANEL = "Constraint"
SchemaFile = Annotated[
    pathlib.Path | None,
    typer.Option(
        "--schema", metavar="FILE", help="JSON Schema that the text is valid by.", rich_help_panel=_PANEL
    ),
]
RegexText = Annotated[
    str | None,
    typer.Option("--regex", metavar="REGEX", help="The whole text matches it.", rich_help_panel=_PANEL),
]
ChoiceTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--choice",
        metavar="TEXT",
        help="The text is one of these. May be given several times.",
        rich_help_panel=_PANEL,
    ),
]
GrammarFile = Annotated[
    pathlib.Path | None,
    typer.Option(
        "--grammar",
        metavar="FILE",
        help="Grammar in Lark's notation that writes the text.",
        rich_help_panel=_PANEL,
    ),
]
WhiteSpaceOf = Annotated[
    str | None,
    typer.Option(
        "--white-space",
        metavar="HOW",
        help="White space of --schema: compact, single (after : and after ,), or the most characters in one "
        r"place. \[default: compact]",
        rich_help_panel=_PANEL,
    ),
]


def given_constraint(
    schema: pathlib.Path | None,
    regex: str | None,
    choices: Sequence[str] | None,
    grammar: pathlib.Path | None,
    white_space: str | None,
) -> "AnyConstraint | None":
    """Returns the constraint that options give, or None; ends the command unless they go together."""
    given = {"--schema": schema, "--regex": regex, "--choice": choices, "--grammar": grammar}
    named = [option for option, value in given.items() if value not in (None, [], ())]
    if len(named) > 1:
        fail(f"{named[0]} and {named[1]}: a text is held to one constraint", ExitCode.USAGE)
    if white_space is not None and schema is None:
        fail("--white-space is that of --schema", ExitCode.USAGE)
    if not named:
        return None
    from firth.constraints.schemas import parse_schema
    from firth.recipes.generation.constraints import Grammar, JsonSchema, Regex, TextChoices

    with usage_errors(ValueError):
        if schema is not None:
            made: dict[str, Any] = {"json_schema": parse_schema(read_given(schema), str(schema))}
            if white_space is not None:
                made["white_space"] = int(white_space) if white_space.isdecimal() else white_space
            return JsonSchema(**made)
        if regex is not None:
            return Regex(pattern=regex)
        if choices:
            return TextChoices(choices=tuple(choices))
        assert grammar is not None
        return Grammar(grammar=read_given(grammar).decode())


def read_given(path: pathlib.Path) -> bytes:
    """Returns the content of a file, or ends the command."""
    try:
        return path.read_bytes()
    except OSError as error:
        fail(f"{path}: {error.strerror}", ExitCode.USAGE)
