"""`firth import`: models of other libraries."""

import os
import pathlib
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from firth.cli import commands
from firth.cli.importing.progress import drawing_import
from firth.cli.output import ExitCode, fail, terminal
from firth.cli.quietly import quietly
from firth.interop.table import FORMATS, Format

if TYPE_CHECKING:
    from firth.interop.read import Read

Directory = Annotated[str, typer.Argument(metavar="DIR", help="Folder of the model.", show_default=False)]
Name = Annotated[
    str | None, typer.Option("--name", help="Name among the runs; the folder's name if it is not given.")
]
_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Adds the subcommand, which has one below it for each format."""
    readable = [each for each in FORMATS.values() if each.reads]
    examples = commands.epilog(
        *(_example(each) for each in readable),
        "firth predict minilm embed 'A sentence.'",
    )
    below = typer.Typer(
        help="Brings a model of another library in, from a folder that you have: nothing is downloaded.",
        no_args_is_help=True,
        epilog=examples,
    )
    below.callback()(_nothing)
    for each in readable:
        help_text = (
            f"Brings a model in {each.title}'s format in. The folder holds {each.contents}. "
            "Nothing is downloaded."
        )
        below.command(each.name, help=help_text, epilog=commands.epilog(_example(each)))(_command(each))
    app.add_typer(below, name="import")


def _example(format: Format) -> str:
    return f"firth import {format.name} {format.example}"


def _nothing() -> None:
    """Brings a model of another library in."""


def _command(format: Format) -> Callable[..., None]:
    def command(directory: Directory, name: Name = None, root: commands.Root = commands.DEFAULT_ROOT) -> None:
        _import(format, directory, name or os.path.basename(os.path.abspath(directory)), root)

    return command


def _import(format: Format, directory: str, name: str, root: pathlib.Path) -> None:
    from firth.cli.bundles import free_place

    place = free_place(root, name)
    from firth.interop.errors import InteropError

    try:
        # Before TensorFlow is loaded, which takes seconds.
        format.check_folder(directory)
    except InteropError as error:
        fail(str(error), ExitCode.USAGE)

    def work() -> "Read":
        from firth.pipelines.imported import import_run

        return import_run(format, directory, place)

    with drawing_import(terminal(err=True)):
        read = quietly(work, "import", {InteropError: ExitCode.USAGE})
    for sentence in read.sentences(_SHOWN):
        typer.echo(sentence)
    typer.echo(f"{name} is in {place}. What to do next:")
    for use in _uses(place, name, root, read):
        typer.echo(f"  {use}")


def _uses(place: pathlib.Path, name: str, root: pathlib.Path, read: "Read") -> list[str]:
    from firth.cli.summary import ask_with, next_commands
    from firth.pipelines.blessing import newest_version
    from firth.serving.description import read_description

    described = read_description(str(newest_version(place / "serving")))["signatures"]
    # A fresh head answers at random.
    asked = {
        key: each for key, each in described.items() if not (each["reads_heads"] and read.has_fresh_heads)
    }
    at = "" if root == commands.DEFAULT_ROOT else f" --root {shlex.quote(str(root))}"
    return [
        *next_commands(name, root, ask_with(asked), has_report=False),
        f"firth finetune {name} --task classification --train reviews.csv --text review --label stars{at}",
        f"firth run --base {name} --text 'notes/*.txt'{at}",
        f"python -c \"from firth.models import load_model; load_model('{place / 'bundle'}').summary()\"",
    ]
