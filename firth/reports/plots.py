"""Plots as inline SVG, with colours from the page's style sheet."""

import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from firth.recipes.goals.goal import Loss
from firth.reports.distributions import Distribution

# Each run of a comparison has a colour of its own.
MOST_RUNS = 8
# Drawn in these colours, then replaced by what the style sheet defines, so that light and dark pages fit.
_THEMED = {
    "#010101": "var(--ink)",
    "#020202": "var(--muted)",
    "#030303": "var(--rule)",
    "#040404": "var(--first)",
    "#050505": "var(--second)",
    "#060606": "var(--third)",
    **{f"#0a0a0{place}": f"var(--run-{place})" for place in range(1, MOST_RUNS + 1)},
}
INK, MUTED, RULE, FIRST, SECOND, THIRD, *RUNS = _THEMED
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["system-ui", "DejaVu Sans"],
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": RULE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
# Samples of a corpus, as they are called and drawn.
STAGES = (("read", "as read", MUTED), ("cleaned", "cleaned", FIRST))
MOST_LANGUAGES = 10
# In inches: as wide as text of 11 points is readable on a page of 400 pixels.
SIZE = (4.8, 2.9)
# More next to one another would overlap.
MOST_LABELS = 10
History = Sequence[Mapping[str, float]]


def plot(name: str, title: str, draw: Callable[[Axes], None], has_bars: bool = False) -> str:
    """Returns an SVG element, the same bytes for the same drawing."""
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        if has_bars:
            axes.grid(axis="x", visible=False)
            axes.legend()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), name, title)


def training_plots(
    history: History, losses: Sequence[Loss], unigram_loss: float | None = None, main: str = ""
) -> dict[str, str]:
    """Returns the losses, the learning rate and the norm of the gradient by step: SVG elements by title."""
    if not history:
        return {}
    drawn = {
        f"Loss of {each.title}": loss_plot(history, each, unigram_loss if each.name == main else None)
        for each in losses
    }
    return {
        **drawn,
        "Learning rate": learning_rate_plot(history),
        "Norm of the gradient": gradient_norm_plot(history),
    }


def loss_plot(history: History, loss: Loss, unigram_loss: float | None = None) -> str:
    """Returns one loss by step, next to that of the unigram baseline or of guessing."""

    def draw(axes: Axes) -> None:
        axes.plot(*series(history, f"{loss.name}_loss"), color=FIRST, linewidth=1.4, label=loss.title)
        steps, held_out = series(history, f"held_out_{loss.name}_loss")
        if steps:
            axes.plot(steps, held_out, color=THIRD, marker="o", markersize=3, linewidth=1.2, label="held out")
        if unigram_loss is not None:
            axes.axhline(unigram_loss, color=SECOND, linestyle="--", linewidth=1.2, label="unigram, held out")
        if loss.guessing is not None:
            axes.axhline(loss.guessing, color=MUTED, linestyle="--", linewidth=1, label="guessing")
        axes.set(xlabel="step", ylabel=loss.quantity)
        axes.legend()

    return plot(f"loss-{loss.name}", f"Loss of {loss.title} by step", draw)


def learning_rate_plot(history: History) -> str:
    """Returns the learning rate by step."""
    title = "Learning rate by step"
    return _curve_plot(history, "learning_rate", title, linewidth=1.4, ylabel="learning rate", ylim=(0, None))


def gradient_norm_plot(history: History) -> str:
    """Returns the global norm of the gradient by step, before clipping."""
    title = "Norm of the gradient by step"
    return _curve_plot(history, "gradient_norm", title, ylabel="norm of the gradient", yscale="log")


def speed_plot(history: History) -> str:
    """Returns non-padding tokens per second by step."""
    title = "Non-padding tokens per second by step"
    return _curve_plot(history, "tokens_per_second", title, "speed", ylabel="tokens/s", ylim=(0, None))


def _curve_plot(
    history: History, quantity: str, title: str, name: str = "", linewidth: float = 1.2, **sides: Any
) -> str:
    def draw(axes: Axes) -> None:
        axes.plot(*series(history, quantity), color=FIRST, linewidth=linewidth)
        axes.set(xlabel="step", **sides)

    return plot(name or quantity.replace("_", "-"), title, draw)


def length_plot(lengths: Mapping[str, Mapping[str, Sequence[int]]], unit: str) -> str:
    """Returns the number of documents by length, as read and as cleaned.

    A bin ends where the next begins.
    """

    def draw(axes: Axes) -> None:
        widest: Sequence[int] = ()
        for offset, (stage, label, color) in enumerate(STAGES):
            histogram = lengths[f"{stage}_{unit}"]
            places = [index + 0.4 * offset - 0.2 for index in range(len(histogram["documents"]))]
            axes.bar(places, histogram["documents"], width=0.4, color=color, label=label)
            widest = max(widest, histogram["lower"], key=len)
        each = -(-len(widest) // MOST_LABELS) or 1
        axes.set_xticks(range(0, len(widest), each), [f"{lower:,}" for lower in widest[::each]], rotation=45)
        axes.set(xlabel=f"{unit} of a document, at least", ylabel="documents")

    return plot(f"lengths-{unit}", f"Documents by number of {unit}", draw, has_bars=True)


def language_plot(languages: Mapping[str, Mapping[str, int]]) -> str:
    """Returns the shares of the most frequent languages among sampled documents, as read and as cleaned."""
    totals = {name: max(sum(counts.values()), 1) for name, counts in languages.items()}
    names = list(dict.fromkeys(name for counts in languages.values() for name in counts))[:MOST_LANGUAGES]

    def draw(axes: Axes) -> None:
        for offset, (sample, label, color) in enumerate(STAGES):
            shares = [100 * languages[sample].get(name, 0) / totals[sample] for name in names]
            places = [index + 0.4 * offset - 0.2 for index in range(len(names))]
            axes.bar(places, shares, width=0.4, color=color, label=label)
        axes.set_xticks(range(len(names)), names)
        axes.set(xlabel="language, ISO 639-1", ylabel="% of documents")

    return plot("languages", "Documents by language", draw, has_bars=True)


def score_plot(step: str, scores: Mapping[str, Any]) -> str:
    """Returns the number of documents kept and dropped by a classifier's score."""
    lower = scores["lower"]
    kept, dropped = (
        [sum(source[fate][place] for source in scores["sources"]) for place in range(len(lower))]
        for fate in ("kept", "dropped")
    )

    def draw(axes: Axes) -> None:
        axes.bar(lower, kept, width=1 / len(lower), align="edge", color=FIRST, label="kept")
        axes.bar(
            lower, dropped, width=1 / len(lower), align="edge", bottom=kept, color=SECOND, label="dropped"
        )
        axes.set(xlabel="score", ylabel="documents", xlim=(0, 1))

    return plot(f"scores-{step}", "Documents by score", draw, has_bars=True)


def distribution_plot(distribution: Distribution) -> str:
    """Returns the number of documents by a value that a step measures."""
    bounds, documents = distribution.bins()
    step, measure = distribution.step, distribution.measure

    def draw(axes: Axes) -> None:
        widths = [upper - lower for lower, upper in itertools.pairwise(bounds)]
        axes.bar(bounds[:-1], documents, width=widths, align="edge", color=FIRST)
        if distribution.is_logarithmic:
            axes.set_xscale("log")
        axes.set(xlabel=measure.replace("_", " "), ylabel="documents", xlim=(bounds[0], bounds[-1]))

    return plot(f"measured-{step}-{measure}", f"Documents by {measure} in {step}", draw)


def vocabulary_plot(vocabulary: Sequence[str]) -> str:
    """Returns the number of pieces by length in characters, starts of words apart from continuations."""
    continued = [len(piece) - 2 for piece in vocabulary if piece.startswith("##")]
    starting = [len(piece) for piece in vocabulary if not piece.startswith("##")]

    def draw(axes: Axes) -> None:
        bins = [edge + 0.5 for edge in range(max([1, *continued, *starting]) + 1)]
        labels, colors = ["word starts", "continuations"], [FIRST, SECOND]
        axes.hist([starting, continued], bins=bins, stacked=True, color=colors, label=labels, rwidth=0.85)
        axes.set(xlabel="characters of a piece", ylabel="pieces")

    return plot("vocabulary", "Pieces by number of characters", draw, has_bars=True)


def series(history: History, name: str) -> tuple[list[float], list[float]]:
    """Returns the steps at which a quantity was recorded, and its values.

    Example:

    >>> series([{"step": 1, "loss": 9.0}, {"step": 2, "loss": None}, {"step": 3, "loss": 7.0}], "loss")
    ([1, 3], [9.0, 7.0])
    """
    points = [(line["step"], line[name]) for line in history if line.get(name) is not None]
    return [step for step, _ in points], [value for _, value in points]


def _inline(svg: str, name: str, title: str) -> str:
    """Returns the element alone, scaled by the page, with ids of its own and the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
    for drawn, themed in _THEMED.items():
        svg = svg.replace(drawn, themed)
    return svg
