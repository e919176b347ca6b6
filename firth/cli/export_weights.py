"""`firth export`: models for other libraries."""

import os
import pathlib
from typing import TYPE_CHECKING, Annotated

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail
from firth.cli.quietly import quietly
from firth.interop.table import FORMATS

if TYPE_CHECKING:
    from firth.interop.written import Written

_WRITABLE = {each.name: each for each in FORMATS.values() if each.writes}
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A run's name below the root, an imported model's, or a bundle's path.",
        show_default=False,
    ),
]
FormatName = Annotated[
    str,
    typer.Option("--format", help=f"What is written: {', '.join(_WRITABLE)}.", show_default=False),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="DIR",
        help="Folder to write, which must not exist yet; NAME-FORMAT if it is not given.",
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="; ".join(
            f"for {each.name}: {name}, {meaning}"
            for each in _WRITABLE.values()
            for name, meaning in each.options.items()
        )
        + ".",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the subcommand.

    Args:
        app: Command to add it to.
    """
    examples = commands.epilog(
        *(f"firth export gpt2_tiny --format {name}" for name in _WRITABLE),
        f"firth export firth-runs/minilm/bundle --format {next(iter(_WRITABLE))} --output mine",
    )
    app.command("export", epilog=examples)(_export)


def _export(
    name: Name,
    format: FormatName,
    output: Output = None,
    option: Chosen = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Writes a trained or an imported model in another library's format."""
    from firth.recipes.base.errors import suggest

    if format not in _WRITABLE:
        fail(f"--format: there is no format {format!r}; {suggest(format, _WRITABLE)}", ExitCode.USAGE)
    from firth import storage

    place = output or f"{pathlib.PurePath(name).name}-{format}"
    if storage.exists(place) or storage.is_folder(place):
        fail(f"{place} already exists; give another --output", ExitCode.USAGE)
    if wrong := [each for each in option or () if "=" not in each]:
        fail(f"--option {wrong[0]}: expected KEY=VALUE", ExitCode.USAGE)
    options = dict(each.split("=", 1) for each in option or ())
    from firth.interop.errors import InteropError
    from firth.recipes.reading.bundles import NoBundleError, bundle_in, find_bundle

    def work() -> "Written":
        is_path = "/" in name or storage.is_folder(name)
        of_run = storage.is_folder(os.path.join(root, name))
        bundle = bundle_in(name) if is_path and not of_run else find_bundle(name, str(root))
        return _WRITABLE[format].export_model(bundle, place, **options)

    expected: dict[type[Exception], ExitCode] = {
        InteropError: ExitCode.USAGE,
        NoBundleError: ExitCode.USAGE,
    }
    written = quietly(work, "export", expected)
    for note in written.notes:
        typer.echo(note)
    for path in written.files:
        typer.echo(os.path.join(place, path))
    typer.echo(f"To load it: {_WRITABLE[format].use.format(folder=place)}")
