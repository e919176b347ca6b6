"""Values of run-time parameters that no recipe takes."""

import math

import pytest

pytest.importorskip("kfp.pipeline_spec", reason="kfp-pipeline-spec is not installed")

from firth.pipelines.orchestrators.read_recipe import recipe_of_run
from firth.pipelines.orchestrators.run_time import PIPELINES
from firth.recipes import RecipeError, load_recipe, recipe_to_yaml

COMPILED = recipe_to_yaml(load_recipe("demo"))


def recipe_of(**parameters):
    return recipe_of_run(PIPELINES["pretrain"], COMPILED, parameters)


@pytest.mark.parametrize("value", [700, 700.0, "700"])
def test_whole_numbers(value):
    assert recipe_of(steps=value).training.steps == 700


@pytest.mark.parametrize("value", ["many", 700.5, math.nan, math.inf, None, [], ""])
def test_what_is_no_whole_number_is_refused_by_its_key(value):
    with pytest.raises(RecipeError, match=r"parameter steps: training\.steps: "):
        recipe_of(steps=value)


def test_overrides_are_refused_by_their_line():
    with pytest.raises(RecipeError) as refused:
        recipe_of(overrides="seed=7\ntrainig.steps=3\n")
    (problem,) = refused.value.problems
    assert problem == (
        "run-time parameter overrides: trainig.steps=3: trainig: unknown key; did you mean training?"
    )
