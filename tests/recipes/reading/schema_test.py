import functools
import pathlib
import re

import pytest

import firth.recipes
from firth.recipes import load_recipe, preset_names, recipe_to_yaml
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.goals.goal import TEXT_METRICS
from firth.recipes.reading.families import family_of_preset, read_shared, read_size
from firth.recipes.reading.schema import metric_names, recipe_schema, schema_text

FOLDER = pathlib.Path(firth.recipes.__file__).parent


@functools.cache
def validator():
    validators = pytest.importorskip("jsonschema").validators
    # As an editor chooses it, by the URI that the schema states.
    return validators.validator_for(recipe_schema(), default=None)(recipe_schema())


def errors_of(data):
    return [error.message for error in validator().iter_errors(data)]


def test_the_committed_schema_is_current(golden):
    golden(FOLDER / "recipe.schema.json", schema_text())


@pytest.mark.parametrize("name", preset_names())
def test_presets_fit_the_schema_as_written_and_resolved(name):
    recipe = load_recipe(name)
    assert set(recipe.objective.metric_names) <= set(metric_names())
    shared = {"extends": "bert_base", **read_shared(family_of_preset(name)).data}
    size = {"extends": "bert_base", **read_size(name).data}
    for data in (shared, size, read_yaml(recipe_to_yaml(recipe), name).data):
        assert errors_of(data) == []


@pytest.mark.parametrize("data", [
    {"extends": "bert_minni"},
    {"name": "no_sources"},
    {"extends": "bert_mini", "trainign": {}},
    {"extends": "bert_mini", "training": {"steps": "500"}},
    {"sources": [{"kind": "text"}]},
    {"extends": "bert_mini", "evaluation": {"thresholds": [{"metric": "mlm_perplexty", "upper_bound": 9}]}},
])  # fmt: skip
def test_the_schema_refuses(data):
    assert errors_of(data)


def test_an_editor_completes_the_metrics_of_every_loss():
    """Also of losses that only a switch of an objective turns on; those of tasks are not of this schema."""
    completed = recipe_schema()["$defs"]["Threshold"]["properties"]["metric"]["enum"]
    sources = "".join(path.read_text() for path in FOLDER.rglob("*.py") if "tasks" not in path.parts)
    losses = set(re.findall(r'\bLoss\("(\w+)"', sources))
    assert losses >= {"lm", "mlm", "nsp", "sop", "sbo", "rtd"}
    assert {name.rpartition("_")[0] for name in completed if name.endswith("_accuracy")} == losses
    assert {"sbo_perplexity", *TEXT_METRICS} <= set(completed) and "nsp_perplexity" not in completed
