"""Presets against released checkpoints, exactly, and against the figures of papers, within their rounding."""

import json
import pathlib

import pytest
import yaml

from firth.recipes import load_recipe, preset_names
from firth.recipes.counting import parameter_counts

FOLDER = pathlib.Path(__file__).parent
FIGURES = yaml.safe_load((FOLDER / "published_counts.yaml").read_text(encoding="utf-8"))
RELEASED = json.loads((FOLDER / "golden" / "published_counts.json").read_text(encoding="utf-8"))["counts"]
# Their figures count the heads of pre-training too.
MINIATURES = ("bert_tiny", "bert_mini", "bert_small", "bert_medium")
# Their figures count no pooler, which others of masked LM do.
WITHOUT_POOLER = ("modernbert_base", "modernbert_large")
UNITS = {"M": 6, "B": 9}


def rounding(figure: str) -> tuple[float, float]:
    """Returns the bounds of a figure such as `6.7B`: half a unit of its last digit around it."""
    digits, exponent = figure[:-1], UNITS[figure[-1]]
    whole, _, decimals = digits.partition(".")
    zeros = len(whole) - len(whole.rstrip("0")) if not decimals else -len(decimals)
    half = 0.5 * 10 ** (exponent + zeros)
    return float(digits) * 10**exponent - half, float(digits) * 10**exponent + half


@pytest.mark.parametrize("figure, low, high", [
    ("110M", 105e6, 115e6), ("355M", 354.5e6, 355.5e6), ("6.7B", 6.65e9, 6.75e9), ("13.0B", 12.95e9, 13.05e9),
])  # fmt: skip
def test_rounding(figure, low, high):
    assert rounding(figure) == pytest.approx((low, high))


@pytest.mark.parametrize("name", RELEASED)
def test_equals_the_released_shape(name):
    counts = parameter_counts(load_recipe(name))
    pooler = counts["pooler"] if name in WITHOUT_POOLER else 0
    total = counts["total_with_heads" if name in MINIATURES else "total"]
    assert total - pooler == RELEASED[name]


@pytest.mark.parametrize("name", [name for name, entry in FIGURES.items() if "figure" in entry])
def test_agrees_with_the_printed_figure_or_says_why_not(name):
    entry, counts = FIGURES[name], parameter_counts(load_recipe(name))
    low, high = rounding(entry["figure"])
    count = sum(counts[part] for part in entry.get("of", ["total"]))
    assert entry["source"]
    assert (low <= count <= high) == entry.get("agrees", True), f"{count:,}"
    assert entry.get("agrees", True) or entry["note"]


def test_every_preset_is_in_both_tables_but_the_twins():
    twins = {name for name in preset_names() if name.endswith("_tiny")} - {"bert_tiny"}
    published = set(preset_names()) - twins - {"demo"}
    assert set(FIGURES) == published
    assert set(RELEASED) == published
