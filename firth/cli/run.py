"""`firth run`: from a recipe to a served model."""

import pathlib
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail, print_error, terminal
from firth.cli.recipe_options import recipe_or_exit, require_files, sources_option

if TYPE_CHECKING:
    from firth.pipelines.local import RunFailedError, RunResult
    from firth.recipes import Recipe

QUOTE_HINT = "quote patterns, --text 'books/*.txt', so that firth and not the shell expands them"


def register(app: typer.Typer) -> None:
    """Adds the subcommand."""
    examples = commands.epilog(
        "firth run demo",
        "firth run bert_mini --text 'books/*.txt'",
        "firth run bert_tiny --jsonl 'news/*.jsonl.gz' --text-key body --set training.steps=2000",
        "firth run my_recipe.yaml --name second_try",
        after=(
            "Run the same command again to go on where a run stopped. Exit codes: 0 done; 1 the run failed, "
            "or another one holds its folder; 2 wrong usage, recipe or source; 3 done, but the model was not "
            "blessed; 130 interrupted."
        ),
    )
    # Arguments too many are taken for a pattern that the shell expanded, and refused with that hint.
    settings = {"allow_extra_args": True}
    app.command("run", epilog=examples, context_settings=settings)(_run)


def _run(
    context: typer.Context,
    recipe: commands.RecipeName,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text", metavar="GLOB", help="Text files in place of the recipe's sources; repeatable."
        ),
    ] = None,
    jsonl: Annotated[
        list[str] | None,
        typer.Option("--jsonl", metavar="GLOB", help="JSON-lines files in place of its sources; repeatable."),
    ] = None,
    text_key: Annotated[
        str, typer.Option("--text-key", help="Where the text stands in a JSON line.")
    ] = "text",
    overrides: commands.Overrides = None,
    root: commands.Root = commands.DEFAULT_ROOT,
    name: Annotated[
        str | None, typer.Option("--name", help="The run's folder below the root; else the recipe's name.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what TFX and TensorFlow print.")] = False,
) -> None:
    """Trains, evaluates, validates and pushes a model, and writes a report on it."""
    if context.args:
        fail(f"unexpected {' '.join(context.args[:3])}; {QUOTE_HINT}", ExitCode.USAGE)
    sources = sources_option(text or (), jsonl or (), text_key)
    checked = recipe_or_exit(recipe, [*sources, *(overrides or ())])
    require_files(checked)
    result = _execute(checked, root, name or checked.name, verbose)
    _finish(result, checked, root)


def _execute(recipe: "Recipe", root: pathlib.Path, name: str, verbose: bool) -> "RunResult":
    from firth.cli.progress import drawing
    from firth.pipelines import local

    console = terminal()
    console.print(f"[bold]{recipe.name}[/] in {root / name} (loading TFX takes a while)")
    try:
        with drawing(console, live=console.is_terminal and not verbose) as draw:
            return local.run(recipe, root=root, name=name, verbose=verbose, on_event=draw)
    except local.RunLockedError as error:
        fail(str(error))
    except local.RunFailedError as error:
        _fail_run(error)
    except OSError as error:
        fail(f"{root / name} cannot be used: {error}")
    except KeyboardInterrupt:
        print_error("interrupted; the same command goes on where this one stopped")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def _fail_run(error: "RunFailedError") -> NoReturn:
    from firth.corpus import CorpusError

    code = ExitCode.USAGE if isinstance(error.__cause__, CorpusError) else ExitCode.FAILED
    fail(f"{error}\nThe log is {error.log_path}.", code)


def _finish(result: "RunResult", recipe: "Recipe", root: pathlib.Path) -> None:
    from rich.console import Console

    from firth.cli.summary import print_summary

    print_summary(Console(highlight=False, soft_wrap=True), result, recipe, root)
    if not result.blessed:
        raise typer.Exit(ExitCode.NOT_BLESSED)
