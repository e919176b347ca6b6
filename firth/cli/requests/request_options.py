"""Options of `firth generate` made of the types of requests, and of `firth predict` for a model's inputs."""

import contextlib
import functools
import inspect
import itertools
import json
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from firth.cli.output import ExitCode, fail

if TYPE_CHECKING:
    from firth.recipes.generation.constraints import AnyConstraint
    from firth.recipes.generation.request import GenerationRequest

_REQUEST = "firth.cli.request"
_SAMPLER = "sampler"
# The command has options of its own for it.
_CONSTRAINT = "constraint"
_METAVARS = {int: "INTEGER", float: "NUMBER", str: "TEXT"}
_INPUTS = "firth.cli.inputs"


class RequestCommand(typer.core.TyperCommand):
    """A command with the options of a request next to its own, which are made when it is asked for.

    The types of requests take longer to load than all other commands together.
    """

    def get_params(self, ctx: Any) -> Any:
        """Returns the parameters of the command, and those of a request before `--help`."""
        *own, last = super().get_params(ctx)
        return [*own, *_params(), last]

    def invoke(self, ctx: Any) -> Any:
        """Calls the command, whose function finds the request by `given_request`."""
        ctx.meta[_REQUEST] = {each.name: ctx.params.pop(each.name) for each in _params()}
        return super().invoke(ctx)


def given_request(ctx: typer.Context, constraint: "AnyConstraint | None" = None) -> "GenerationRequest":
    """Returns the request that the options of a `RequestCommand` make, or ends the command."""
    from firth.recipes.generation.request import GenerationRequest

    given = {name: value for name, value in ctx.meta[_REQUEST].items() if value not in (None, [], ())}
    values = {name: _plain(name, value, _annotations()[name]) for name, value in given.items()}
    if _SAMPLER in given:
        _check_sampler(given)
        values[_SAMPLER] = {"kind": given[_SAMPLER]}
    if constraint is not None:
        values[_CONSTRAINT] = constraint
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
    found = {name: field.annotation for each in fields for name, field in each.items()}
    return {name: annotation for name, annotation in found.items() if name != _CONSTRAINT}


@functools.cache
def _params() -> list[Any]:
    """Returns the parameters, as typer makes them of a function's signature.

    typer has no other public way: its `TyperOption` takes a type that only its own module makes.
    """

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

    given = descriptions(GenerationRequest)
    kinds = ", ".join(_samplers())
    for name, field in GenerationRequest.model_fields.items():
        if name == _SAMPLER:
            meaning = f"{given[name].rstrip('.')}: {kinds}. Without it, the first with all given values."
            yield _parameter(name, str, meaning, field.default.kind, "Request", "KIND")
        elif name != _CONSTRAINT:
            yield _parameter(name, field.annotation, given[name], field.default, "Request")
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
    given = typer.Option(
        option,
        help=meaning.replace("[", r"\["),
        metavar=None if read is bool else metavar,
        show_default=False,
        rich_help_panel=panel,
    )
    if read is str and metavar is None:
        given.metavar = next(
            (_METAVARS[each] for each in _types_in(annotation) if each in _METAVARS), "VALUE"
        )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[read | None, given]
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


def _plain(name: str, given: Any, annotation: Any) -> Any:
    """Returns the value of an option as JSON has it."""
    if _is_mapping(annotation):
        return dict(_pair(name, each) for each in given)
    if isinstance(given, str) and str not in _types_in(annotation):
        return _number(given)
    return given


def _pair(name: str, given: str) -> tuple[str, Any]:
    # A token may hold the sign itself.
    key, equals, value = given.rpartition("=")
    if not equals:
        fail(f"--{name.replace('_', '-')} {given}: expected TOKEN=NUMBER", ExitCode.USAGE)
    return key, _number(value)


def _number(given: str) -> Any:
    try:
        return json.loads(given)
    except json.JSONDecodeError:
        return given


def _check_sampler(given: Mapping[str, Any]) -> None:
    from firth.recipes.base.errors import suggest

    kind = given[_SAMPLER]
    if kind not in _samplers():
        fail(f"--sampler: there is no {kind!r}; {suggest(kind, _samplers())}", ExitCode.USAGE)
    for name, of_kind in _fields_of_samplers().items():
        if name in given and kind not in of_kind:
            fail(
                f"--{name.replace('_', '-')}: the sampler {kind} has no such value; "
                f"{' and '.join(of_kind)} has",
                ExitCode.USAGE,
            )


def _as_option(line: str) -> str:
    """Returns a line about a value, after the option that gives it."""
    _, _, rest = line.partition(": ")
    key, colon, problem = rest.partition(": ")
    name = key.removeprefix(f"{_SAMPLER}.").split(".")[0]
    return f"--{name.replace('_', '-')}: {problem}" if colon and name in _annotations() else line


class InputsCommand(typer.core.TyperCommand):
    """A command with an option for each further input of a signature, such as `--pair TEXT`.

    Only the description of the model names them: any option that the command itself lacks is taken for one,
    and its function finds them by `given_inputs`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Reads the arguments of the command without the inputs'."""
        named = [each for each in self.get_params(ctx) if each.param_type_name == "option"]
        own = {option: each for each in named for option in (*each.opts, *each.secondary_opts)}
        left, ctx.meta[_INPUTS] = _divided(args, own)
        return super().parse_args(ctx, left)


def given_inputs(ctx: typer.Context) -> dict[str, list[str]]:
    """Returns the texts of each further input, as they are given."""
    return {name: list(given) for name, given in ctx.meta.get(_INPUTS, {}).items()}


def inputs_for(
    texts: Mapping[str, Sequence[str]], described: Mapping[str, Any], count: int
) -> dict[str, Any]:
    """Returns the texts of each further input of a signature, one for each text, or ends the command."""
    names, lists = described.get("choices", {}), described.get("lists", {})
    # The name of a task, say, is often that of all texts.
    given: dict[str, list[str]] = {
        name: list(each) * (count if name in names and len(each) == 1 else 1) for name, each in texts.items()
    }
    for name, each in given.items():
        if len(each) != count:
            fail(f"--{name.replace('_', '-')} is given once for each text", ExitCode.USAGE)
    return {
        name: [as_list(text, lists[name]) for text in each] if name in lists else each
        for name, each in given.items()
    }


def as_list(text: str, between: str) -> list[str]:
    """Returns the texts that a command gives in one: a list of JSON, lines, or texts with something between.

    Example:

    >>> as_list("He sat | He | she", " | "), as_list('["a | b", "c"]', " | ")
    (['He sat', 'He', 'she'], ['a | b', 'c'])
    """
    if text.lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            found = json.loads(text)
            if isinstance(found, list) and all(isinstance(each, str) for each in found):
                return found
    return [each for each in text.split("\n" if "\n" in text else between) if each]


def _divided(args: Sequence[str], own: Mapping[str, Any]) -> tuple[list[str], dict[str, list[str]]]:
    """Returns the arguments that the command reads itself, and the values of all other options."""
    left: list[str] = []
    given: dict[str, list[str]] = {}
    rest = iter(args)
    for each in rest:
        option, equals, value = each.partition("=")
        if each == "--":
            left += [each, *rest]
        elif option in own or not option.startswith("--"):
            takes_next = option in own and not equals and not getattr(own[option], "is_flag", True)
            left += [each, *itertools.islice(rest, int(takes_next))]
        else:
            text = value if equals else next(rest, None)
            if text is None or (not equals and text.partition("=")[0] in own):
                fail(f"{option}: there is no such option, or its text is missing", ExitCode.USAGE)
            given.setdefault(option.removeprefix("--").replace("-", "_"), []).append(text)
    return left, given
