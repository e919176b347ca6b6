"""Renders several runs side by side as one self-contained HTML page."""

import dataclasses
import itertools
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes

from firth.recipes.goals.goal import Loss
from firth.recipes.reading.differences import differences
from firth.reports.page import NOT_RECORDED, count, render_page
from firth.reports.plots import MOST_RUNS, RUNS, History, plot, series
from firth.reports.quantities import bytes_text, seconds_text
from firth.reports.record import RunRecord
from firth.reports.threshold_results import BoundedMetric, overall, threshold_results

FEWEST_RUNS = 2
SECTIONS = (
    ("compared_runs", "Runs"),
    ("compared_metrics", "Metrics"),
    ("compared_curves", "Curves"),
    ("compared_recipes", "Recipes"),
)
# Parts of a recipe that decide which text is held out, and in which tokens it is counted.
_TEXT_KEYS = ("sources", "cleaning", "data", "tokenizer")
# Runs stay apart in print and for readers who see few colours.
MARKERS = "os^DvPX*"
DASHES = ("-", "--", "-.", ":")


@dataclasses.dataclass(frozen=True)
class ComparedRun:
    """One column of the page.

    Attributes:
        name: Name of the run, unlike that of any other run on the page.
        state: State of the run, such as `blessed` or `unfinished`.
        record: Record of the run.
    """

    name: str
    state: str
    record: RunRecord


@dataclasses.dataclass(frozen=True)
class MetricRow:
    """One metric of all runs.

    Attributes:
        name: Name of the metric.
        values: Value of each run; None if it was not recorded.
        threshold_results: Result of each run against its threshold; None if its recipe sets none for the
            metric.
    """

    name: str
    values: Sequence[float | None]
    threshold_results: Sequence[BoundedMetric | None]


def render_comparison(runs: Sequence[ComparedRun]) -> str:
    """Returns the page. It needs no script and nothing from outside, and escapes all text of documents.

    Args:
        runs: Runs in the order of the columns, two to eight.

    Raises:
        ValueError: if there are fewer or more runs.

    Example:

    >>> from firth.recipes import load_recipe
    >>> record = RunRecord(load_recipe("demo"))
    >>> page = render_comparison([ComparedRun(name, "unfinished", record) for name in ("first", "second")])
    >>> "The recipes are the same." in page
    True
    """
    if not FEWEST_RUNS <= len(runs) <= MOST_RUNS:
        raise ValueError(f"{len(runs)} runs: from {FEWEST_RUNS} to {MOST_RUNS} can be compared")
    different = differences([run.record.recipe for run in runs])
    losses = {loss.name: loss for run in runs for loss in run.record.recipe.goal.loss_terms}
    return render_page(
        kind="comparison",
        title=f"{len(runs)} runs",
        description=", ".join(run.name for run in runs),
        headline=[],
        sections=SECTIONS,
        runs=runs,
        facts={label: [fact(run) for run in runs] for label, fact in _FACTS.items()},
        metric_rows=_metric_rows(runs),
        curves=overlay_plots([run.record.history for run in runs], losses.values()),
        recipe_rows={key: [_value_text(value) for value in values] for key, values in different.items()},
        text_keys=[part for part in _TEXT_KEYS if any(key.split(".")[0] == part for key in different)],
    )


def _metric_rows(runs: Sequence[ComparedRun]) -> list[MetricRow]:
    metrics = [overall(run.record.evaluation) for run in runs]
    bounded: list[dict[str, BoundedMetric]] = [
        {
            result.metric: result
            for result in threshold_results(run.record.recipe.evaluation, run.record.recipe.goal, found)
        }
        if found and run.record.recipe.evaluation.thresholds
        else {}
        for run, found in zip(runs, metrics)
    ]
    names = dict.fromkeys(itertools.chain(*metrics, *bounded))
    return [
        MetricRow(name, [found.get(name) for found in metrics], [found.get(name) for found in bounded])
        for name in names
    ]


def _value_text(value: Any) -> str:
    """Returns a recipe's value as a recipe file may have it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _steps(run: ComparedRun) -> str:
    history, recipe = run.record.history, run.record.recipe
    made = count(history[-1]["step"] if history else 0)
    if recipe.counts_epochs:
        # How many they are in all follows from the rows, which a recipe does not know.
        return f"{made}, for epochs: {getattr(recipe, recipe.counted_keys['training.steps']):g}"
    return f"{made} of {count(recipe.training.steps)}"


def _tokens(run: ComparedRun) -> str:
    return count(run.record.history[-1].get("tokens") if run.record.history else None)


def _speed(run: ComparedRun) -> str:
    speeds = [speed for line in run.record.history if (speed := line.get("tokens_per_second"))]
    return count(statistics.median(speeds) if speeds else None)


def _wall_time(run: ComparedRun) -> str:
    seconds = _timings(run, "seconds")
    return seconds_text(sum(seconds)) if seconds else NOT_RECORDED


def _timings(run: ComparedRun, name: str) -> list[float]:
    """Returns the seconds or bytes of each component of a run."""
    return [timing.get(name) or 0.0 for timing in run.record.timings.values()]


def _training(run: ComparedRun, name: str) -> float:
    return run.record.timings.get("Trainer", {}).get(name) or 0.0


def _seconds(seconds: float) -> str:
    return seconds_text(seconds) if seconds else NOT_RECORDED


def _bytes(size: float) -> str:
    return bytes_text(size) if size else NOT_RECORDED


_FACTS: dict[str, Callable[[ComparedRun], str]] = {
    "State": lambda run: run.state,
    "Recipe": lambda run: run.record.recipe.name,
    "Parameters": lambda run: count(run.record.parameters.get("total")),
    "Parameters with heads": lambda run: count(run.record.parameters.get("total_with_heads")),
    "Parameters trained": lambda run: count(run.record.trained),
    "Steps": _steps,
    "Tokens trained on": _tokens,
    "Tokens per second, median": _speed,
    "Time of the Trainer": lambda run: _seconds(_training(run, "seconds")),
    "Peak memory of the Trainer": lambda run: _bytes(_training(run, "peak_bytes")),
    "Wall time of all components": _wall_time,
    "Peak memory of all components": lambda run: _bytes(max(_timings(run, "peak_bytes"), default=0.0)),
}


def overlay_plots(histories: Sequence[History], losses: Iterable[Loss]) -> dict[str, str]:
    """Returns SVG elements by title: each loss in training and held out, and the speed.

    A quantity that no run recorded has no plot.
    """
    wanted = {}
    for loss in losses:
        wanted[f"Training loss of {loss.title}"] = (f"{loss.name}_loss", loss.quantity)
        wanted[f"Held-out loss of {loss.title}"] = (f"held_out_{loss.name}_loss", loss.quantity)
    wanted["Non-padding tokens per second"] = ("tokens_per_second", "tokens/s")
    return {
        title: _overlay(histories, title, quantity, label)
        for title, (quantity, label) in wanted.items()
        if any(series(history, quantity)[0] for history in histories)
    }


def _overlay(histories: Sequence[History], title: str, quantity: str, label: str) -> str:
    def draw(axes: Axes) -> None:
        for place, history in enumerate(histories):
            steps, values = series(history, quantity)
            # A point marks a curve of one value, and held-out losses, which are few.
            marker = MARKERS[place] if len(steps) == 1 or quantity.startswith("held_out_") else ""
            style = DASHES[place % len(DASHES)]
            axes.plot(
                steps, values, color=RUNS[place], linestyle=style, marker=marker, markersize=3, linewidth=1.3
            )
        axes.set(xlabel="step", ylabel=label)

    return plot(f"compared-{quantity}", f"{title} by step", draw)
