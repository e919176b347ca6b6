"""Options of a command for each value of a request for a text, made of the types of requests."""

import functools
import inspect
import json
import types
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from firth.cli.output import ExitCode, fail

if TYPE_CHECKING:
    from firth.recipes.generation.request import GenerationRequest

_SAID = "firth.cli.request"
_SAMPLER = "sampler"
_METAVARS = {int: "INTEGER", float: "NUMBER", str: "TEXT"}


class RequestCommand(typer.core.TyperCommand):
    """A command with the options of a request next to its own, which are made when it is asked for.

    The types of requests take longer to load than all other commands together.
    """

    def get_params(self, ctx: Any) -> Any:
        """Returns the parameters of the command, and those of a request before `--help`."""
        *own, last = super().get_params(ctx)
        return [*own, *_params(), last]

    def invoke(self, ctx: Any) -> Any:
        """Calls the command, whose function finds the request by `said_request`."""
        ctx.meta[_SAID] = {each.name: ctx.params.pop(each.name) for each in _params()}
        return super().invoke(ctx)


def said_request(ctx: typer.Context) -> "GenerationRequest":
    """Returns the request that the options of a `RequestCommand` make, or ends the command."""
    from firth.recipes.generation.request import GenerationRequest

    said = {name: value for name, value in ctx.meta[_SAID].items() if value not in (None, [], ())}
    values = {name: _plain(name, value, _annotations()[name]) for name, value in said.items()}
    if _SAMPLER in said:
        _check_sampler(said)
        values[_SAMPLER] = {"kind": said[_SAMPLER]}
    try:
        return GenerationRequest.with_values(values)
    except ValueError as error:
        fail("\n".join(_as_option(line) for line in str(error).splitlines()), ExitCode.USAGE)


@functools.cache
def _samplers() -> Mapping[str, Any]:
    from firth.recipes.base.types import configs_in, kinds_of
    from firth.recipes.generation.request import GenerationRequest

    samplers = configs_in(GenerationRequest.model_fields[_SAMPLER].annotation)
    return {kind: each for each in samplers for kind in kinds_of(each)}


@functools.cache
def _annotations() -> Mapping[str, Any]:
    from firth.recipes.generation.request import GenerationRequest

    fields = [each.model_fields for each in (*_samplers().values(), GenerationRequest)]
    return {name: field.annotation for each in fields for name, field in each.items()}


@functools.cache
def _params() -> list[Any]:
    """Returns the parameters, as typer makes them of a function's signature."""

    def ask() -> None:
        """Never called: only its parameters are taken."""

    parameters = list(_parameters())
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ask.__annotations__ = {each.name: each.annotation for each in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(ask)
    command: Any = typer.main.get_command(app)
    return [each for each in command.params if each.name in _annotations()]


def _parameters() -> Iterator[inspect.Parameter]:
    from firth.recipes.base.types import descriptions
    from firth.recipes.generation.request import GenerationRequest

    said = descriptions(GenerationRequest)
    kinds = ", ".join(_samplers())
    for name, field in GenerationRequest.model_fields.items():
        if name == _SAMPLER:
            meaning = f"{said[name].rstrip('.')}: {kinds}. Without it, the first with all given values."
            yield _parameter(name, str, meaning, field.default.kind, "Request", "KIND")
        else:
            yield _parameter(name, field.annotation, said[name], field.default, "Request")
    for name, of_kind in _fields_of_samplers().items():
        first = of_kind[next(iter(of_kind))]
        meaning = descriptions(_samplers()[next(iter(of_kind))])[name]
        panel = f"Sampler {' or '.join(of_kind)}"
        yield _parameter(name, first.annotation, meaning, first.default, panel)


def _fields_of_samplers() -> dict[str, dict[str, Any]]:
    """Returns the fields of the samplers by name, and then by the kinds that have them."""
    found: dict[str, dict[str, Any]] = {}
    for kind, sampler in _samplers().items():
        for name, field in sampler.model_fields.items():
            if name != "kind":
                found.setdefault(name, {})[kind] = field
    return found


def _parameter(
    name: str, annotation: Any, meaning: str, default: Any, panel: str, metavar: str | None = None
) -> inspect.Parameter:
    option = f"--{name.replace('_', '-')}"
    read: Any = bool if annotation is bool else str
    if _is_many(annotation):
        read, metavar = list[str], "TOKEN=NUMBER" if _is_mapping(annotation) else "TEXT"
        meaning += " May be given several times."
    if isinstance(default, int | float | str) and annotation is not bool:
        meaning += f" [default: {default}]"
    said = typer.Option(
        option,
        help=meaning.replace("[", r"\["),
        metavar=None if read is bool else metavar,
        show_default=False,
        rich_help_panel=panel,
    )
    if read is str and metavar is None:
        said.metavar = next((_METAVARS[each] for each in _types_in(annotation) if each in _METAVARS), "VALUE")
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[read | None, said]
    )


def _types_in(annotation: Any) -> list[Any]:
    if typing.get_origin(annotation) in (typing.Annotated, typing.Union, types.UnionType):
        return [each for part in typing.get_args(annotation) for each in _types_in(part)]
    return [annotation]


def _is_mapping(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_many(annotation: Any) -> bool:
    return _is_mapping(annotation) or typing.get_origin(annotation) is tuple


def _plain(name: str, said: Any, annotation: Any) -> Any:
    """Returns what an option says as JSON would have it."""
    if _is_mapping(annotation):
        return dict(_pair(name, each) for each in said)
    if isinstance(said, str) and str not in _types_in(annotation):
        return _number(said)
    return said


def _pair(name: str, said: str) -> tuple[str, Any]:
    # A token may hold the sign itself.
    key, equals, value = said.rpartition("=")
    if not equals:
        fail(f"--{name.replace('_', '-')} {said}: expected TOKEN=NUMBER", ExitCode.USAGE)
    return key, _number(value)


def _number(said: str) -> Any:
    try:
        return json.loads(said)
    except json.JSONDecodeError:
        return said


def _check_sampler(said: Mapping[str, Any]) -> None:
    from firth.recipes.base.errors import suggest

    kind = said[_SAMPLER]
    if kind not in _samplers():
        fail(f"--sampler: there is no {kind!r}; {suggest(kind, _samplers())}", ExitCode.USAGE)
    for name, of_kind in _fields_of_samplers().items():
        if name in said and kind not in of_kind:
            fail(
                f"--{name.replace('_', '-')}: the sampler {kind} has no such value; "
                f"{' and '.join(of_kind)} has",
                ExitCode.USAGE,
            )


def _as_option(line: str) -> str:
    """Returns a line about a value with the option that says it in front."""
    _, _, rest = line.partition(": ")
    key, colon, problem = rest.partition(": ")
    name = key.removeprefix(f"{_SAMPLER}.").split(".")[0]
    return f"--{name.replace('_', '-')}: {problem}" if colon and name in _annotations() else line
