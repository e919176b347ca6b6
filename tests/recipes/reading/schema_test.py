import functools
import pathlib

import pytest

import firth.recipes
from firth.recipes import load_recipe, preset_names, recipe_to_yaml
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.reading.presets import read_preset
from firth.recipes.reading.schema import recipe_schema, schema_text

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
    for text in (read_preset(name), recipe_to_yaml(load_recipe(name))):
        assert errors_of(read_yaml(text, name).data) == []


@pytest.mark.parametrize("data", [
    {"extends": "bert_minni"},
    {"name": "no_sources"},
    {"extends": "bert_mini", "trainign": {}},
    {"extends": "bert_mini", "training": {"steps": "500"}},
    {"sources": [{"kind": "text"}]},
])  # fmt: skip
def test_the_schema_refuses(data):
    assert errors_of(data)
