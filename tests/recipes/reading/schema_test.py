import functools
import pathlib
import re

import pytest

import firth.recipes
from firth.recipes import AdaptingRecipe, Recipe, load_recipe, preset_names, recipe_to_yaml
from firth.recipes.base.yaml_text import read_yaml
from firth.recipes.goals.goal import TEXT_METRICS
from firth.recipes.reading.adapting import adapting_yaml, load_adapting_recipe
from firth.recipes.reading.families import family_of_preset, read_shared, read_size
from firth.recipes.reading.schema import metric_names, recipe_schema, schema_text
from tests.docs.snippets import all_snippets
from tests.recipes.bundles import write_bundle
from tests.recipes.few_presets import FEW_PRESETS
from tests.repeating import often

FOLDER = pathlib.Path(firth.recipes.__file__).parent


@functools.cache
def validator(recipe):
    validators = pytest.importorskip("jsonschema").validators
    # As an editor chooses it, by the URI that the schema states.
    return validators.validator_for(recipe_schema(recipe), default=None)(recipe_schema(recipe))


def errors_of(data, recipe=Recipe):
    return [error.message for error in validator(recipe).iter_errors(data)]


@pytest.mark.parametrize(("name", "recipe"), [
    ("recipe.schema.json", Recipe),
    ("adapting_recipe.schema.json", AdaptingRecipe),
])  # fmt: skip
def test_the_committed_schema_is_current(golden, name, recipe):
    golden(FOLDER / name, schema_text(recipe))


@functools.cache
def errors_of_shared(family):
    return errors_of({"extends": "bert_base", **read_shared(family).data})


@pytest.mark.parametrize("name", often(preset_names(), FEW_PRESETS))
def test_presets_fit_the_schema_as_written_and_resolved(name):
    recipe = load_recipe(name)
    assert set(recipe.objective.metric_names) <= set(metric_names())
    assert errors_of_shared(family_of_preset(name)) == []
    size = {"extends": "bert_base", **read_size(name).data}
    for data in (size, read_yaml(recipe_to_yaml(recipe), name).data):
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


ADAPTING = [each for each in all_snippets("yaml") if "\ntask:" in each.text]


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """A folder with the bundles that the snippets name."""
    folder = tmp_path_factory.mktemp("bases")
    for name in ("minilm", "t5_tiny", "gpt2_tiny"):
        write_bundle(folder / name / "bundle", preset="bert_tiny" if name == "minilm" else name)
    return folder


@pytest.mark.parametrize("snippet", ADAPTING, ids=str)
def test_adapting_recipes_fit_their_schema_as_written_and_resolved(snippet, bases, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(snippet.text)
    written = adapting_yaml(load_adapting_recipe(file, root=bases))
    for text in (snippet.text, written):
        assert errors_of(read_yaml(text, "mine").data, AdaptingRecipe) == []


START = {"base": "minilm", "data": {"kind": "columns", "train": "a.csv"}, "task": {"kind": "regression"}}


@pytest.mark.parametrize(("data", "named"), [
    ({"base": "minilm", "task": {"kind": "regression"}}, "minilm"),
    ({**START, "sources": []}, "sources"),
    ({**START, "extends": "bert_mini"}, "bert_mini"),
    ({**START, "epoch": 3}, "epoch"),
    ({**START, "training": {"steps": 500}}, "steps"),
    ({**START, "training": {"optimizer": {"kind": "adamw", "warmup_steps": 7}}}, "training"),
    ({**START, "task": {"kind": "clasification"}}, "task"),
    ({**START, "method": {"kind": "lora", "rank": 0}}, "method"),
    ({**START, "base": {"digest": "0" * 64}}, "base"),
])  # fmt: skip
def test_the_schema_of_adapting_recipes_refuses(data, named):
    errors = list(validator(AdaptingRecipe).iter_errors(data))
    assert any(named in error.message or named in error.absolute_path for error in errors)


@pytest.mark.parametrize("more", [
    {},
    {"method": {"kind": "lora"}, "training": {"optimizer": {"learning_rate": 1e-4}}},
    {"evaluation": {"thresholds": [{"metric": "cola.matthews", "lower_bound": 0.1}]}},
    {"predictions": {"input": "new.csv"}, "validation": {"drift": {"label": 0.1}}},
    {"search": {"space": {"epochs": {"kind": "range", "low": 1, "high": 4}}}},
])  # fmt: skip
def test_the_schema_of_adapting_recipes_takes(more):
    assert errors_of({**START, **more}, AdaptingRecipe) == []


def test_an_editor_completes_the_scores_of_tasks():
    names = set(metric_names(AdaptingRecipe))
    assert {"accuracy", "accuracy_low", "entity_f1", "rouge_l", "lm_perplexity"} <= names
    assert not names & {"mlm_perplexity", "nsp_accuracy"}


def test_an_editor_completes_the_metrics_of_every_loss():
    """Also of losses that only a switch of an objective turns on; those of tasks are not of this schema."""
    completed = recipe_schema()["$defs"]["Threshold"]["properties"]["metric"]["enum"]
    sources = "".join(path.read_text() for path in FOLDER.rglob("*.py") if "tasks" not in path.parts)
    losses = set(re.findall(r'\bLoss\("(\w+)"', sources))
    assert losses >= {"lm", "mlm", "nsp", "sop", "sbo", "rtd"}
    assert {name.rpartition("_")[0] for name in completed if name.endswith("_accuracy")} == losses
    assert {"sbo_perplexity", *TEXT_METRICS} <= set(completed) and "nsp_perplexity" not in completed
