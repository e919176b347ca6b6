"""Every preset as it resolves, and how many parameters it has."""

import pathlib

import pytest

from firth.recipes import load_recipe, preset_names, recipe_to_yaml
from firth.recipes.counting import parameter_counts

GOLDEN = pathlib.Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", preset_names())
def test_preset(name, golden):
    recipe = load_recipe(name)
    counts = "".join(f"{part}: {count:,}\n" for part, count in parameter_counts(recipe).items())
    golden(GOLDEN / f"{name}.txt", f"{counts}\n{recipe_to_yaml(recipe)}")


def test_there_is_a_golden_file_of_each_preset_and_no_other():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(preset_names())


@pytest.mark.parametrize("name, total", [("bert_base", 109_482_240), ("bert_large", 335_141_888)])
def test_published_parameter_counts(name, total):
    assert parameter_counts(load_recipe(name))["total"] == total
