"""Commands on runs that are on disk: `firth runs`, `firth report` and `firth compare`."""

import pathlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail, usage_errors
from firth.cli.runs_on_disk import RECIPE_FILE, RunOnDisk, all_runs, find_run
from firth.reports.quantities import seconds_text

if TYPE_CHECKING:
    from firth.reports.compare import ComparedRun

_WIDEST = 10_000
RunNames = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Names of runs below the root, or folders.", show_default=False),
]
Output = Annotated[
    pathlib.Path | None,
    typer.Option("--output", help="The page; by default compare_<names>.html in the root.", dir_okay=False),
]


def _runs(root: commands.Root = commands.DEFAULT_ROOT) -> None:
    """Lists the runs below the root, the latest first, with their evaluation."""
    from rich.console import Console
    from rich.table import Table

    found = all_runs(root)
    if not found:
        typer.echo(f"no runs in {root}; make one with: firth run demo")
        return
    table = Table(box=None, pad_edge=False)
    for header in ("run", "state", "perplexity", "unigram", "score", "time", "report"):
        table.add_column(header, justify="right" if header in ("perplexity", "unigram", "time") else "left")
    for run in found:
        table.add_row(*_cells(run))
    console = Console(soft_wrap=True)
    # A name that is cut cannot be given to the next command: rather a line that the terminal wraps.
    whole = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
    console.width = max(console.width, whole)
    console.print(table)


def _cells(run: RunOnDisk) -> tuple[str, ...]:
    from firth.reports.record import main_perplexity
    from firth.reports.threshold_results import overall

    metrics = overall(run.summary.get("evaluation", {}))
    perplexities = [main_perplexity(metrics), metrics.get("unigram_perplexity")]
    seconds = sum(timing.get("seconds") or 0.0 for timing in run.timings.values())
    return (
        run.directory.name,
        run.state,
        *("-" if value is None else f"{value:,.1f}" for value in perplexities),
        _score(run, metrics),
        seconds_text(seconds) if run.timings else "-",
        "yes" if run.report else "-",
    )


def _score(run: RunOnDisk, metrics: dict[str, float]) -> str:
    """Returns the first of a task's scores; a dash for a run that is judged by its perplexity."""
    from firth.recipes import RecipeError
    from firth.recipes.goals.goal import LOW
    from firth.recipes.reading.loading import load_run_recipe
    from firth.reports.task_scores import held_out_scores

    # Recipes are read of those alone that have scores.
    if not any(name.endswith(LOW) for name in metrics):
        return "-"
    try:
        names = load_run_recipe(run.directory / RECIPE_FILE).goal.score_names
    except RecipeError:
        return "-"
    return next((f"{each.name} {each.value:.3f}" for each in held_out_scores(metrics, names)), "-")


register_runs = commands.registrar("runs", _runs, "firth runs", "firth runs --root /data/firth-runs")


def _report(
    run: commands.RunName,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser as well.")] = False,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Prints the path of a run's report, one self-contained HTML page."""
    found = find_run(root, run)
    if found.imported_from:
        fail(f"{found.directory} is an imported model, which has no report")
    if found.report is None and found.is_finished:
        fail(f"{found.directory} has no report; its scores are in {found.directory / 'run.json'}")
    if found.report is None:
        fail(f"{found.directory} has no report yet: {found.state}. Run the same command again to finish it.")
    typer.echo(found.report)
    if open_page:
        typer.launch(found.report.resolve().as_uri())


register_report = commands.registrar("report", _report, "firth report demo", "firth report demo --open")


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


register_compare = commands.registrar(
    "compare",
    _compare,
    "firth compare bert_tiny electra_tiny",
    "firth compare first second third --output page.html --open",
    after="Runs that are not finished are compared by the values that they have recorded so far.",
)
