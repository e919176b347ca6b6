"""The number of parameters of every preset, and what its YAML states: the values that its paper names."""

import pathlib

import pytest
import yaml

from firth.recipes import preset_names
from firth.recipes.counting import parameter_counts
from firth.recipes.reading.families import family_of_preset
from firth.recipes.reading.loading import load_with_places

GOLDEN = pathlib.Path(__file__).parent / "golden"
# What a preset states besides is for the user to replace, and in no paper.
OF_THE_PAPER = ("tokenizer", "sequences", "objective", "model", "training")


def golden_path(name: str) -> pathlib.Path:
    family = family_of_preset(name)
    return GOLDEN / "presets" / family / f"{name.removeprefix(family).removeprefix('_') or family}.txt"


def stated(resolved, written):
    """Returns the resolved values at the keys that are written, here or in what is extended; no defaults."""
    if isinstance(written, dict):
        return {key: stated(value, written[key]) for key, value in resolved.items() if key in written}
    if isinstance(written, list):
        return [stated(*both) for both in zip(resolved, written, strict=True)]
    return resolved


def as_text(name: str) -> str:
    recipe, layers = load_with_places(name)
    counts = "".join(f"{part}: {count:,}\n" for part, count in parameter_counts(recipe).items())
    values = stated(recipe.model_dump(mode="json"), layers.data)
    flows = (
        yaml.safe_dump({key: values[key]}, default_flow_style=True, sort_keys=False, width=110)
        for key in OF_THE_PAPER
        if key in values
    )
    return f"{counts}\n" + "".join(flow.strip()[1:-1] + "\n" for flow in flows)


@pytest.mark.parametrize("name", preset_names())
def test_preset(name, golden):
    golden(golden_path(name), as_text(name))


def test_there_is_a_golden_file_of_each_preset_and_no_other():
    assert set(GOLDEN.rglob("*.txt")) == set(map(golden_path, preset_names()))


def test_values_are_those_that_are_written():
    resolved = {"rate": 0.1, "steps": 5, "stages": [{"length": 8, "batch": 2}], "part": {"a": 1, "b": 2}}
    written = {"steps": 4, "stages": [{"length": 7}], "part": {"b": None}}
    assert stated(resolved, written) == {"steps": 5, "stages": [{"length": 8}], "part": {"b": 2}}
    assert "epsilon" not in as_text("bert_mini")
