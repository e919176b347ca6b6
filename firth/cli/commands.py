"""Options that all subcommands share, and the format of examples in their help."""

import pathlib
from collections.abc import Callable
from typing import Annotated, Any

import typer

Root = Annotated[
    pathlib.Path, typer.Option("--root", envvar="FIRTH_ROOT", help="Folder of all runs.", file_okay=False)
]
DEFAULT_ROOT = pathlib.Path("firth-runs")

RecipeName = Annotated[
    str,
    typer.Argument(metavar="RECIPE", help="A preset's name, or the path of a YAML file.", show_default=False),
]
AnyRecipeName = Annotated[
    str | None,
    typer.Argument(
        metavar="[RECIPE]",
        help="A preset's name, or the path of a YAML file; may be left out with --base.",
        show_default=False,
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help="Go on from this model, in the place of weights drawn by the seed: a run's name, that of an "
        "imported model, or a bundle's path.",
    ),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's name below the root, or its folder.", show_default=False)
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change one key of the recipe; may be given several times."
    ),
]


def epilog(*examples: str, after: str = "") -> str:
    r"""Returns a help text's last part: examples, one a line, and a closing remark.

    Example:

    >>> epilog("firth show 'a [MASK]'").splitlines()[-1]
    "firth show 'a \\[MASK]'"
    """
    escaped = (example.replace("[", r"\[") for example in examples)
    return "\n\n".join(["Examples:", *escaped, *([after] if after else [])])


def registrar(
    name: str, command: Callable[..., None], *examples: str, after: str = "", **settings: Any
) -> Callable[[typer.Typer], Any]:
    """Returns the function that adds a subcommand to the command."""
    return lambda app: app.command(name, epilog=epilog(*examples, after=after), **settings)(command)
