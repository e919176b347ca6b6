"""Runs a recipe's pipeline from the command line: options, progress and error messages."""

import contextlib
import dataclasses
import multiprocessing
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from firth.cli import commands
from firth.cli.commands import base_option, recipe_or_exit, sources_option
from firth.cli.output import ExitCode, fail, note, packages_hidden, print_error, terminal

if TYPE_CHECKING:
    from firth.pipelines.local import RunOptions, RunResult
    from firth.pipelines.run_errors import RunFailedError
    from firth.recipes import Recipe
    from firth.recipes.reading.raw_recipes import Option
    from firth.recipes.run.run_recipe import RunRecipe

Result = TypeVar("Result")
Execute = Callable[[Callable[..., Any]], Any]
QUOTE_HINT = "quote patterns, --text 'books/*.txt', so that firth and not the shell expands them"
_ASSIGNMENT = re.compile(r"[a-z_][\w.]*=.*")
# Extra arguments mostly come from a pattern that the shell expanded. They are refused with that hint.
SETTINGS = {"allow_extra_args": True}
Text = Annotated[
    list[str] | None,
    typer.Option("--text", metavar="GLOB", help="Text files in place of the recipe's sources; repeatable."),
]
Jsonl = Annotated[
    list[str] | None,
    typer.Option("--jsonl", metavar="GLOB", help="JSON-lines files in place of its sources; repeatable."),
]
TextKey = Annotated[
    str | None,
    typer.Option(
        "--text-key", metavar="KEY", help="Key of the text in a line of --jsonl; `text` if not given."
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="The run's folder below the root; the recipe's name if not given."
    ),
]
ReuseFolder = Annotated[
    bool,
    typer.Option(
        "--reuse-folder", help="Use the run's folder even if another recipe or other sources made it."
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show what TFX and TensorFlow print.")]
BeamArgs = Annotated[
    list[str] | None,
    typer.Option(
        "--beam-arg",
        metavar="OPTION",
        help="An option of Beam, such as --beam-arg=--runner=FlinkRunner; repeatable. Without any, Beam runs "
        "in this process.",
    ),
]
Metadata = Annotated[
    str,
    typer.Option(
        "--metadata",
        metavar="PLACE",
        envvar="FIRTH_METADATA",
        help="Where ML Metadata is kept, which several runs may share: a file of SQLite, or "
        "postgresql://user@host:port/database, or the same of mysql:// (MariaDB), with the password in "
        "FIRTH_METADATA_PASSWORD; in the run's folder if not given.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", min=1, help="Processes of Beam on this machine, each of which reads, cleans and packs."
    ),
]
Made = TypeVar("Made")


def command_on_recipe(act: Callable[["Recipe", Execute, pathlib.Path], None]) -> Callable[..., None]:
    """Returns the command that reads a recipe, with the options of a run, and acts on it."""

    def command(
        context: typer.Context,
        recipe: commands.AnyRecipeName = None,
        base: commands.Base = None,
        text: Text = None,
        jsonl: Jsonl = None,
        text_key: TextKey = None,
        overrides: commands.Overrides = None,
        root: commands.Root = commands.DEFAULT_ROOT,
        name: Name = None,
        reuse_folder: ReuseFolder = False,
        workers: Workers = 1,
        beam_arg: BeamArgs = None,
        metadata: Metadata = "",
        verbose: Verbose = False,
    ) -> None:
        beam = beam_args(beam_arg, workers)
        checked = recipe_of(context, recipe, text, jsonl, text_key, overrides, base, root)

        def execute_recipe(run: Callable[..., Any]) -> Any:
            from firth.pipelines.local import RunOptions

            options = RunOptions(
                name, verbose, beam_pipeline_args=beam, reuse_folder=reuse_folder, metadata=metadata
            )
            return execute(run, checked, root, options)

        act(checked, execute_recipe, root)

    command.__doc__ = act.__doc__
    return command


def recipe_of(
    context: typer.Context,
    name: str | None,
    text: Sequence[str] | None,
    jsonl: Sequence[str] | None,
    text_key: str | None,
    overrides: Sequence[str] | None,
    base: str | None = None,
    root: pathlib.Path | None = None,
) -> "Recipe":
    """Returns the recipe that the options describe, checked. Ends the command if they do not fit together."""
    if name is None and base is None:
        fail("give a RECIPE, or the model to continue from with --base", ExitCode.USAGE)
    if context.args:
        fail(f"unexpected {' '.join(context.args[:3])}; {_hint(context.args)}", ExitCode.USAGE)
    if text_key is not None and not jsonl:
        fail("--text-key names the text of a JSON line; give --jsonl too", ExitCode.USAGE)
    sources = sources_option(text or (), jsonl or (), "text" if text_key is None else text_key)
    options: list[str | Option] = [*base_option(base), *sources, *(overrides or ())]
    return recipe_or_exit(name, options, require_all=True, root=root)


def _hint(extra: Sequence[str]) -> str:
    """Returns a hint for arguments that the command does not take."""
    if all(map(_ASSIGNMENT.fullmatch, extra)):
        return f"change keys of the recipe by --set, {' '.join(f'--set {each}' for each in extra)}"
    return QUOTE_HINT


def beam_args(given: Sequence[str] | None, workers: int = 1) -> tuple[str, ...]:
    """Returns Beam's options as they were given, and those of `workers` processes.

    Ends the command if an argument is not an option, has a value that its option cannot have, or if both
    `given` and `workers` are set.

    Example:

    >>> beam_args(["--runner=FlinkRunner"]), beam_args(None)
    (('--runner=FlinkRunner',), ())
    >>> beam_args(None, workers=2)
    ('--direct_running_mode=multi_processing', '--direct_num_workers=2')
    """
    if workers > 1:
        if given:
            fail("--workers is Beam's runner on this machine; give --beam-arg alone", ExitCode.USAGE)
        return ("--direct_running_mode=multi_processing", f"--direct_num_workers={workers}")
    for option in given or ():
        if not option.startswith("--"):
            fail(f"--beam-arg {option}: write it as --beam-arg=--runner=FlinkRunner", ExitCode.USAGE)
    if not given:
        return ()
    from firth.corpus.workers.options import check_options

    try:
        for line in check_options(given):
            note(f"--beam-arg={line}")
    except ValueError as error:
        fail(f"--beam-arg: {error}", ExitCode.USAGE)
    return tuple(given)


def execute(
    run: Callable[..., Result], recipe: "RunRecipe", root: pathlib.Path, options: "RunOptions"
) -> Result:
    """Returns the result of a function of `firth.pipelines.local`; draws its events, and ends on an error."""
    from firth.cli.progress import drawing
    from firth.pipelines import local
    from firth.pipelines.run_errors import RunFolderError, full_disk
    from firth.pipelines.run_folder import run_folder

    folder = recipe.name if options.name is None else options.name
    console = terminal()
    try:
        run_folder(root, folder)
        console.print(f"[bold]{recipe.name}[/] in {root / folder} (loading TFX takes a while)")
        with drawing(console, live=console.is_terminal and not options.verbose) as draw:
            followed = dataclasses.replace(options, name=folder, on_event=draw, loading=packages_hidden)
            return run(recipe, root, followed)
    except RunFolderError as error:
        fail(str(error), ExitCode.USAGE)
    except local.RunLockedError as error:
        fail(str(error))
    except local.RunFailedError as error:
        _fail_run(error)
    except OSError as error:
        fail(full_disk(error, root) or f"{root / folder} cannot be used: {error}")
    except KeyboardInterrupt as interrupted:
        # In training, the message names the step that is saved.
        print_error(str(interrupted) or "interrupted; the same command continues where this one stopped")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except SystemExit as ended:
        # The Trainer ends so on SIGTERM, with a message and a checkpoint.
        if ended.code == ExitCode.TERMINATED:
            print_error(str(ended))
        raise


def _fail_run(error: "RunFailedError") -> NoReturn:
    from firth.corpus import CorpusError

    if not isinstance(error.__cause__, CorpusError):
        fail(f"{error}\nThe log is {error.log_path}.")
    page = f"\nThe page on the corpus is {error.corpus_page}." if error.corpus_page else ""
    fail(f"{error}{page}\nThe log is {error.log_path}.", ExitCode.USAGE)


def finish(print_summary: Callable[..., None], result: "RunResult", recipe: Any, root: pathlib.Path) -> None:
    """Prints the summary of a run. Ends the command with a status of its own if the model is not blessed."""
    from rich.console import Console

    print_summary(Console(highlight=False, soft_wrap=True), result, recipe, root)
    if not result.blessed:
        raise typer.Exit(ExitCode.NOT_BLESSED)


def run_in_own_process(work: Callable[..., Made], *arguments: object) -> Made:
    """Runs a function in a new process, with this one's output, and returns its result.

    SIGTERM and Ctrl-C are passed to it, and this process waits for its end. If it does not end well, it has
    printed the reason, and this command ends with its status.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(sender, work, arguments))
    made: list[Made] = []
    with receiver, _passing_signals(process):
        process.start()
        # Its end is seen where nobody else holds the pipe.
        sender.close()
        with contextlib.suppress(EOFError):
            made.append(receiver.recv())
        process.join()
    if process.exitcode or not made:
        status = process.exitcode or 1
        raise typer.Exit(128 - status if status < 0 else status)
    return made[0]


def _passing_signals(process: multiprocessing.process.BaseProcess) -> contextlib.AbstractContextManager[None]:
    from firth.training.termination import signals_handled

    def send(number: int, frame: object) -> None:
        if process.pid is not None and process.exitcode is None:
            os.kill(process.pid, number)

    return signals_handled(send)


def _work(sender: Connection, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    from firth.cli.main import run_as_process

    def send() -> None:
        try:
            sender.send(work(*arguments))
        except typer.Exit as ended:
            raise SystemExit(ended.exit_code) from None

    run_as_process(send)
