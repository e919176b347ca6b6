"""`firth compare`: several runs on one page."""

import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail, usage_errors
from firth.cli.runs_on_disk import RECIPE_FILE, RunOnDisk, find_run

if TYPE_CHECKING:
    from firth.reports.compare import ComparedRun

RunNames = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Names of runs below the root, or folders.", show_default=False),
]
Output = Annotated[
    pathlib.Path | None,
    typer.Option("--output", help="The page; by default compare_<names>.html in the root.", dir_okay=False),
]


def _compare(
    runs: RunNames,
    output: Output = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser as well.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Writes a page that compares two to eight runs, and prints its path.

    The page shows the differences between the recipes, metrics with thresholds, and loss curves on one plot.
    """
    found = [find_run(root, run) for run in runs]
    _require_different(found)
    from firth.reports.compare import FEWEST_RUNS, render_comparison
    from firth.reports.plots import MOST_RUNS

    if not FEWEST_RUNS <= len(found) <= MOST_RUNS:
        fail(f"from {FEWEST_RUNS} to {MOST_RUNS} runs can be compared, not {len(found)}", ExitCode.USAGE)
    path = output or root / f"compare_{'_'.join(run.directory.name for run in found)}.html"
    page = render_comparison([_compared(run, name) for run, name in zip(found, _column_names(found))])
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        fail(f"{path}: {error.strerror}; say where the page goes with --output", ExitCode.USAGE)
    typer.echo(path)
    if open_page:
        typer.launch(path.resolve().as_uri())


def _require_different(runs: Sequence[RunOnDisk]) -> None:
    folders = Counter(run.directory.resolve() for run in runs)
    if twice := [folder.name for folder, times in folders.items() if times > 1]:
        fail(f"{twice[0]} is named twice", ExitCode.USAGE)


def _column_names(runs: Sequence[RunOnDisk]) -> list[str]:
    """Returns the runs' names, or their folders if two runs have the same name."""
    names = [run.directory.name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.directory) for run in runs]


def _compared(run: RunOnDisk, name: str) -> "ComparedRun":
    import dataclasses

    from firth.recipes import RecipeError
    from firth.recipes.reading.loading import load_run_recipe
    from firth.reports.collect import ReportInputs, collect_run
    from firth.reports.compare import ComparedRun

    with usage_errors(RecipeError):
        recipe = load_run_recipe(run.directory / RECIPE_FILE)
    curves = str(run.curves) if run.curves else ""
    record = collect_run(ReportInputs(recipe, model_run=curves, run_dir=str(run.directory)))
    if run.is_finished:
        record = dataclasses.replace(record, evaluation=run.summary.get("evaluation", {}))
    return ComparedRun(name, run.state, record)


register = commands.registrar(
    "compare",
    _compare,
    "firth compare bert_tiny electra_tiny",
    "firth compare first second third --output page.html --open",
    after="Runs that are not finished are compared by the values that they have recorded so far.",
)
