"""`firth runs`: lists the runs and their states."""

import typer

from firth.cli import commands
from firth.cli.runs_on_disk import RECIPE_FILE, RunOnDisk, all_runs
from firth.reports.quantities import seconds_text

_WIDEST = 10_000


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


register = commands.registrar("runs", _runs, "firth runs", "firth runs --root /data/firth-runs")
