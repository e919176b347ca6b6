"""The keys that may be searched, and the values that they may have."""

import pytest

from firth.recipes import RecipeError, load_recipe
from firth.recipes.reading.adapting import load_adapting_recipe
from firth.recipes.run.search import Search
from tests.recipes.bundles import write_bundle

DATA = "data={kind: columns, train: a.csv, texts: {text: text}, label: label}"
RATE = "training.optimizer.learning_rate"


@pytest.mark.parametrize(("space", "problem"), [
    ("{training.optimizer.learning_rat: {kind: range, low: 0.1, high: 0.2}}", "did you mean learning_rate?"),
    ("{training.batch_size: {kind: choices, values: [8, 0]}}", "training.batch_size: 0 does not fit"),
    ("{trainin.batch_size: {kind: choices, values: [8, 9]}}", "did you mean training?"),
    ("{sequences.length: {kind: choices, values: [8, 16]}}", "only what the training alone reads"),
    (f"{{{RATE}: {{kind: range, low: 0, high: 1, sampling: log}}}}", "has no logarithm"),
    (f"{{{RATE}: {{kind: range, low: 2, high: 1}}}}", "is above high"),
    ("{training.optimiser.learning_rate: {kind: range, low: 0.1, high: 0.2}}",
     "there is no 'optimiser' in the recipe; did you mean optimizer?"),
    ("{training.steps.more: {kind: choices, values: [1, 2]}}", "steps is 1200 in the recipe, which has no"),
    ("{training.precision: {kind: choices, values: [float32, 1]}}", "'float32' and 1 are of different types"),
    ("{training.jit_compile: {kind: choices, values: [true, true]}}", "True is there twice"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(space, problem):
    with pytest.raises(RecipeError) as refused:
        load_recipe("demo", [f"search.space={space}"])
    assert problem in str(refused.value)


def test_values_that_fit_are_taken():
    rate = f"{RATE}: {{kind: range, low: 1e-5, high: 1e-3, sampling: log}}"
    dropout = "model.dropout: {kind: choices, values: [0.0, 0.1]}"
    assert len(load_recipe("demo", [f"search.space={{{rate}, {dropout}}}"]).search.space) == 2


def test_choices_of_whole_numbers_and_others_are_numbers():
    assert Search.of({"space": {"epochs": {"kind": "choices", "values": [1, 2.5]}}}).space[
        "epochs"
    ].values == (1.0, 2.5)


@pytest.mark.parametrize(("key", "source"), [
    ("training.steps", "epochs"),
    ("training.batch_size", "examples_per_step"),
    ("training.optimizer.warmup_steps", "warmup"),
])  # fmt: skip
def test_what_follows_from_another_key_is_not_searched(tmp_path, key, source):
    write_bundle(tmp_path / "base" / "bundle")
    options = ["base=base", DATA, "task={kind: classification}"]
    with pytest.raises(RecipeError, match=f"{key}: .*{source}; "):
        space = f"search.space={{{key}: {{kind: choices, values: [8, 16]}}}}"
        load_adapting_recipe(None, [*options, space], tmp_path)


@pytest.mark.parametrize(("search", "problem"), [
    ("algorithm: hyperband, trials: 4", "trials: with algorithm: hyperband they follow from rounds"),
    ("rounds: 2", "rounds: only algorithm: hyperband has rounds; say trials"),
    ("algorithm: hyperband, rounds: 3", "begins with 9 trials of different values, and there are 4;"),
])  # fmt: skip
def test_rounds_are_those_of_hyperband(search, problem):
    steps = "training.steps: {kind: range, low: 4, high: 5}"
    space = f"{{training.batch_size: {{kind: choices, values: [4, 8]}}, {steps}}}"
    with pytest.raises(RecipeError) as refused:
        load_recipe("demo", [f"search={{{search}, space: {space}}}"])
    assert problem in str(refused.value)
