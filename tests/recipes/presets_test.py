"""Every preset as it resolves, and how many parameters it has."""

import pathlib

import pytest
import yaml

from firth.recipes import load_recipe, preset_names
from firth.recipes.counting import parameter_counts

GOLDEN = pathlib.Path(__file__).parent / "golden" / "presets"


def compact(recipe) -> str:
    """A recipe with every value, each part on as few lines as it needs."""
    parts = recipe.model_dump(mode="json").items()
    flows = (
        yaml.safe_dump({key: part}, default_flow_style=True, sort_keys=False, width=110)
        for key, part in parts
    )
    return "".join(flow.strip()[1:-1] + "\n" for flow in flows)


@pytest.mark.parametrize("name", preset_names())
def test_preset(name, golden):
    recipe = load_recipe(name)
    counts = "".join(f"{part}: {count:,}\n" for part, count in parameter_counts(recipe).items())
    golden(GOLDEN / f"{name}.txt", f"{counts}\n{compact(recipe)}")


def test_there_is_a_golden_file_of_each_preset_and_no_other():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(preset_names())
