"""The `firth` command: its subcommands, and the message after an unexpected error."""

import atexit
import contextlib
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from firth import storage
from firth.cli import (
    commands,
    compile,
    curate,
    evaluate,
    export_weights,
    import_weights,
    run,
    runs,
    serve,
    show,
    train_worker,
)
from firth.cli.finetuning import finetune, glue
from firth.cli.output import ExitCode, import_without_logs, print_error
from firth.cli.requests import curation, generate, predict, schema

HELP = """Raw text to a validated, served language model.

A recipe says everything that a run is made of: a preset's name (see `firth recipes`) or a YAML file.
"""

app = typer.Typer(
    help=HELP,
    epilog=commands.epilog(
        "firth run demo",
        "firth run bert_mini --text 'books/*.txt'",
        "firth curate bert_mini --text 'books/*.txt'",
        "firth predict bert_mini fill-mask 'The [MASK] of the house.'",
        after="Exit codes: 0 done; 1 it failed; 2 wrong usage, recipe or source; 3 done, but not blessed.",
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# In the order of the help text.
for register in (
    run.register,
    finetune.register,
    glue.register,
    curate.register,
    curation.register,
    show.register_recipes,
    show.register_show,
    compile.register,
    runs.register_runs,
    runs.register_report,
    runs.register_compare,
    predict.register,
    generate.register,
    schema.register,
    serve.register_serve,
    serve.register_playground,
    evaluate.register,
    import_weights.register_import,
    export_weights.register,
    import_weights.register_merge,
    train_worker.register,
):
    register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        import importlib.metadata

        typer.echo(f"firth {importlib.metadata.version('firth')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that go before any subcommand."""


def main() -> None:
    """Runs the command, and turns unexpected errors into a sentence and a file with the traceback."""
    run_as_process(app)


def run_as_process(work: Callable[[], object]) -> None:
    """Calls the work of a whole process, with temporary files, error messages and exit codes."""
    # On a full disk, commands that need no temporary folder still answer.
    with contextlib.suppress(OSError):
        storage.keep_temporary_files()
    atexit.register(_ignore_what_cannot_be_raised)
    # TensorFlow prints nine lines about the machine first. Its errors are raised as well.
    if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import_without_logs("tensorflow")
    # A dependency of TensorFlow warns about Python 3.10, before the answer.
    warnings.filterwarnings("ignore", "You are using a non-supported Python version", FutureWarning)
    try:
        work()
    except SystemExit as ended:
        if ended.code in (ExitCode.INTERRUPTED, ExitCode.TERMINATED):
            _end_now(int(ended.code))
        raise
    except Exception as error:
        folder = storage.lasting_temporary_folder()
        with tempfile.NamedTemporaryFile(
            "w", prefix="firth-", suffix=".log", delete=False, dir=folder
        ) as log:
            traceback.print_exc(file=log)
        print_error(f"unexpected {type(error).__name__}: {error}\nThe traceback is in {log.name}.")
        sys.exit(ExitCode.FAILED)


def _end_now(code: int) -> NoReturn:
    """Ends the process without waiting for threads of Beam and TensorFlow that would work on."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    storage.remove_temporary_files()
    os._exit(code)


def _ignore_what_cannot_be_raised() -> None:
    """Hides tracebacks at exit: TensorFlow's registries are freed after modules that they need."""
    sys.unraisablehook = lambda unraisable: None
