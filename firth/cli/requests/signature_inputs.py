"""Options of `firth predict` for the inputs that an exported model describes, which no command knows."""

import contextlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
import typer.core

from firth.cli.output import ExitCode, fail

_SAID = "firth.cli.inputs"


class InputsCommand(typer.core.TyperCommand):
    """A command with an option for each further input of a signature, such as `--pair TEXT`.

    Which these are, only the model says that is asked: any option that the command itself lacks is taken for
    one, and its function finds them by `said_inputs`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Reads the arguments of the command without the inputs'."""
        named = [each for each in self.get_params(ctx) if each.param_type_name == "option"]
        own = {option: each for each in named for option in (*each.opts, *each.secondary_opts)}
        left, ctx.meta[_SAID] = _divided(args, own)
        return super().parse_args(ctx, left)


def said_inputs(ctx: typer.Context) -> dict[str, list[str]]:
    """Returns the texts of each further input, as they are given."""
    return {name: list(given) for name, given in ctx.meta.get(_SAID, {}).items()}


def inputs_for(said: Mapping[str, Sequence[str]], described: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Returns the texts of each further input of a signature, one for each text, or ends the command."""
    names, lists = described.get("choices", {}), described.get("lists", {})
    # The name of a task, say, is often that of all texts.
    given: dict[str, list[str]] = {
        name: list(each) * (count if name in names and len(each) == 1 else 1) for name, each in said.items()
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
    said: dict[str, list[str]] = {}
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
            said.setdefault(option.removeprefix("--").replace("-", "_"), []).append(text)
    return left, said
