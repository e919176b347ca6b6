"""Curves of several runs on the same axes."""

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from firth.analysis.plots import RUNS, History, plot, series
from firth.recipes.goals.losses import Loss

# Runs stay apart in print and for readers who see few colours.
MARKERS = "os^DvPX*"
DASHES = ("-", "--", "-.", ":")


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
            # A point stands for a curve that is short of a line, and marks held-out losses, which are few.
            marker = MARKERS[place] if len(steps) == 1 or quantity.startswith("held_out_") else ""
            style = DASHES[place % len(DASHES)]
            axes.plot(
                steps, values, color=RUNS[place], linestyle=style, marker=marker, markersize=3, linewidth=1.3
            )
        axes.set(xlabel="step", ylabel=label)

    return plot(f"compared-{quantity}", f"{title} by step", draw)
