"""`firth import`: models of other libraries; `firth merge`: a base and its adapter as one model."""

import contextlib
import inspect
import logging
import os
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, run_quietly, terminal, usage_errors
from firth.cli.progress import PLAIN_INTERVAL_SECONDS, live_progress
from firth.interop.formats import FORMATS, Format, Read

if TYPE_CHECKING:
    from rich.console import Console

    from firth.recipes.run.adapting import AdaptingRecipe

Directory = Annotated[str, typer.Argument(metavar="DIR", help="Folder of the model.", show_default=False)]
Name = Annotated[
    str | None, typer.Option("--name", help="Name among the runs; the folder's name if it is not given.")
]
Begin = Annotated[
    str | None,
    typer.Option(
        "--begin",
        metavar="cls|none",
        help="Token that texts and prompts of a decoder begin with (objective.begin), such as GPT-2's "
        "<|endoftext|>; as published if it is not given.",
    ),
]
_SAID_AT_LENGTH: dict[str, Any] = {"begin": Begin}
_SHOWN = 5
_PROGRESS = logging.getLogger("firth.progress")
Draw = Callable[[str, int, int], None]
Base = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The base: a run's name below the root, an imported model's, or a bundle's path.",
        show_default=False,
    ),
]
Adapter = Annotated[
    str,
    typer.Argument(
        metavar="ADAPTER",
        help="Folder of an adapter, or the name of the run that trained it.",
        show_default=False,
    ),
]
Merged = Annotated[
    str | None,
    typer.Option("--name", help="Name among the runs; NAME_merged if it is not given."),
]


def register_import(app: typer.Typer) -> None:
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
    def command(
        directory: Directory,
        name: Name = None,
        root: commands.Root = commands.DEFAULT_ROOT,
        **given: str | None,
    ) -> None:
        choices = {key: value for key, value in given.items() if value is not None}
        _import(format, directory, name or os.path.basename(os.path.abspath(directory)), root, choices)

    # Typer reads the options of a command from its signature.
    signature = inspect.signature(command)
    fixed = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    parameters = [*fixed, *(_choice(key, text) for key, text in format.choices.items())]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _choice(key: str, text: str) -> inspect.Parameter:
    """Returns the parameter of a choice of a format, with its own text or with one that says more."""
    option = Annotated[str | None, typer.Option(f"--{key}", help=text, show_default=False)]
    annotation = _SAID_AT_LENGTH.get(key, option)
    return inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _import(format: Format, directory: str, name: str, root: pathlib.Path, choices: dict[str, str]) -> None:
    from firth.cli.bundles import new_run_folder

    place = new_run_folder(root, name)
    from firth.interop.errors import InteropError

    with usage_errors(InteropError):
        # Before TensorFlow is loaded, which takes seconds.
        format.check_folder(directory)

    def work() -> Read:
        from firth.pipelines.imported_models import import_run

        return import_run(format, directory, place, **choices)

    with drawing_import(terminal(err=True)):
        read = run_quietly(work, "import", {InteropError: ExitCode.USAGE})
    for sentence in read.sentences(_SHOWN):
        typer.echo(sentence)
    typer.echo(f"{name} is in {place}. What to do next:")
    for use in _uses(place, name, root, read):
        typer.echo(f"  {use}")


def _uses(place: pathlib.Path, name: str, root: pathlib.Path, read: Read) -> list[str]:
    from firth.cli.summary import ask_with, next_commands
    from firth.pipelines.results import newest_version
    from firth.serving.exported_model import read_description

    described = read_description(str(newest_version(place / "serving")))["signatures"]
    # A fresh head answers at random.
    asked = {
        key: each for key, each in described.items() if not (each["reads_heads"] and read.has_fresh_heads)
    }
    at = commands.root_option(root)
    return [
        *next_commands(name, root, ask_with(asked), has_report=False),
        f"firth finetune {name} --task classification --train reviews.csv --text review --label stars{at}",
        f"firth run --base {name} --text 'notes/*.txt'{at}",
        f"python -c \"from firth.models import load_model; load_model('{place / 'bundle'}').summary()\"",
    ]


@contextlib.contextmanager
def drawing_import(console: "Console", clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Draws the logged parts of an import for as long as the block runs."""
    with contextlib.ExitStack() as stack:
        if console.is_terminal:
            draw = _live(stack.enter_context(live_progress(console)))
        else:
            draw = _plain(console, clock)
        level = _PROGRESS.level
        handler = _Parts(draw)
        _PROGRESS.setLevel(logging.INFO)
        _PROGRESS.addHandler(handler)
        try:
            yield
        finally:
            _PROGRESS.removeHandler(handler)
            _PROGRESS.setLevel(level)


class _Parts(logging.Handler):
    def __init__(self, draw: Draw) -> None:
        super().__init__(logging.INFO)
        self._draw = draw

    def emit(self, record: logging.LogRecord) -> None:
        event: dict[str, Any] = getattr(record, "firth", {})
        if event.get("kind") == "import":
            self._draw(event["part"], event["done"], event["of"])


def _live(progress: Any) -> Draw:
    task = progress.add_task("import", total=None, detail="")

    def draw(part: str, done: int, of: int) -> None:
        detail = f"{part}, {done:,} of {of:,}" if of else part
        progress.update(task, total=of or None, completed=done, detail=detail)

    return draw


def _plain(console: "Console", clock: Callable[[], float]) -> Draw:
    shown, last = "", clock()

    def draw(part: str, done: int, of: int) -> None:
        nonlocal shown, last
        if part == shown and clock() - last < PLAIN_INTERVAL_SECONDS:
            return
        console.print(f"{part}: {done:,} of {of:,}" if of and part == shown else part, markup=False)
        shown, last = part, clock()

    return draw


def register_merge(app: typer.Typer) -> None:
    """Adds the subcommand."""
    examples = commands.epilog(
        "firth merge minilm minilm_sst2",
        "firth merge minilm adapters/sst2 --name minilm_films",
        "firth predict minilm_films classify 'A film to remember.'",
        after="An adapter of another base is refused, and one of a method that does not merge.",
    )
    app.command("merge", epilog=examples)(_merge)


def _merge(
    base: Base,
    adapter: Adapter,
    name: Merged = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Makes a base and an adapter one model, with a bundle and a SavedModel."""
    from firth.cli.bundles import adapter_of, bundle_of, new_run_folder

    made = name or f"{pathlib.PurePath(base).name}_merged"
    place = new_run_folder(root, made)

    def work() -> "AdaptingRecipe":
        from firth.pipelines.imported_models import merge_run

        return merge_run(bundle_of(base, root), adapter_of(adapter, root), place)

    recipe = run_quietly(work, "merge", {ValueError: ExitCode.USAGE})
    at = commands.root_option(root)
    typer.echo(f"{made} is in {place}. To ask it:")
    typer.echo(f"  firth predict {made} {recipe.task.signature.replace('_', '-')} TEXT{at}")
