"""`firth import`: published weights of other code."""

import os
import pathlib
import tempfile
from typing import Annotated

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail

Options = Annotated[
    pathlib.Path, typer.Argument(metavar="OPTIONS", help="ELMo's options, JSON.", show_default=False)
]
Weights = Annotated[
    pathlib.Path, typer.Argument(metavar="WEIGHTS", help="ELMo's weights, HDF5.", show_default=False)
]
Output = Annotated[
    pathlib.Path, typer.Option("--output", metavar="DIR", help="Folder to write, which must not exist yet.")
]


def register(app: typer.Typer) -> None:
    """Adds the subcommand, which has one below it for each kind of weights.

    Args:
        app: Command to add it to.
    """
    examples = commands.epilog("firth import elmo options.json weights.hdf5 --output elmo")
    below = typer.Typer(help="Turns published weights into a model.", no_args_is_help=True, epilog=examples)
    below.callback()(_nothing)
    below.command("elmo", epilog=examples)(_elmo)
    app.add_typer(below, name="import")


def _nothing() -> None:
    """Turns published weights into a model."""


def _elmo(options: Options, weights: Weights, output: Output) -> None:
    """Reads ELMo as AllenNLP publishes it, and writes a Keras model, a SavedModel and a recipe's `model`.

    The files hold no softmax, so the model gives vectors of words and cannot predict words.
    """
    if output.exists():
        fail(f"{output} already exists", ExitCode.USAGE)
    for path in (options, weights):
        if not path.is_file():
            fail(f"there is no file {path}", ExitCode.USAGE)
    for written, use in _export(options, weights, output).items():
        typer.echo(f"{written}\n  {use}")


def _export(options: pathlib.Path, weights: pathlib.Path, output: pathlib.Path) -> dict[str, str]:
    """Exports the model. What TensorFlow prints goes to a file, which is removed unless something fails."""
    from firth.pipelines.logs import output_in

    descriptor, log = tempfile.mkstemp(prefix="firth-import-", suffix=".log")
    os.close(descriptor)
    wrong = None
    try:
        with output_in(pathlib.Path(log)):
            from firth.serving.elmo import ElmoFileError, export_elmo

            try:
                written = export_elmo(options, weights, output)
            except ElmoFileError as error:
                wrong = str(error)
    except Exception as error:
        fail(f"{type(error).__name__}: {error}\nThe log is {log}.")
    os.remove(log)
    if wrong:
        fail(wrong, ExitCode.USAGE)
    return written
