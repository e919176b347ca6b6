"""The keys that may be searched, and the values that they may have."""

import pytest

from firth.recipes import RecipeError, load_recipe

RATE = "training.optimizer.learning_rate"


@pytest.mark.parametrize(("space", "problem"), [
    ("{training.optimizer.learning_rat: {kind: range, low: 0.1, high: 0.2}}", "did you mean learning_rate?"),
    ("{training.batch_size: {kind: choices, values: [8, 0]}}", "training.batch_size: 0 does not fit"),
    ("{trainin.batch_size: {kind: choices, values: [8, 9]}}", "did you mean training?"),
    ("{sequences.length: {kind: choices, values: [8, 16]}}", "only what the training alone reads"),
    (f"{{{RATE}: {{kind: range, low: 0, high: 1, sampling: log}}}}", "has no logarithm"),
    (f"{{{RATE}: {{kind: range, low: 2, high: 1}}}}", "is above high"),
    ("{training.optimiser.learning_rate: {kind: range, low: 0.1, high: 0.2}}", "no 'optimiser'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(space, problem):
    with pytest.raises(RecipeError) as refused:
        load_recipe("demo", [f"search.space={space}"])
    assert problem in str(refused.value)


def test_values_that_fit_are_taken():
    rate = f"{RATE}: {{kind: range, low: 1e-5, high: 1e-3, sampling: log}}"
    dropout = "model.dropout: {kind: choices, values: [0.0, 0.1]}"
    assert len(load_recipe("demo", [f"search.space={{{rate}, {dropout}}}"]).search.space) == 2
