"""Shares of a model that methods train, compared with a model that is built."""

import math

import pytest

from firth.models import build_model
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.classification import Classification
from firth.tuning import METHODS, trainable_parameters, tuning_costs
from tests.exported_model import RECIPE
from tests.repeating import often


def recipe_of(method):
    return AdaptingRecipe(
        name="adapted",
        data={"kind": "columns", "train": "labelled.csv"},
        base={"bundle": "base", "digest": "0" * 64},
        tokenizer=RECIPE.tokenizer,
        sequences=RECIPE.sequences.model_copy(update={"max_documents": 1}),
        model=RECIPE.model,
        task=Classification(labels=("no", "yes")),
        method=method,
    )


# What a kind cannot be without, or is smaller for a small base.
SHORT = {"length": 3}
SAID = {
    "last_layers": {"layers": 1},
    "adalora": {"initial_rank": 4, "target_rank": 2},
    "houlsby": {"bottleneck": 3},
    "prefix_tuning": SHORT,
    "p_tuning_v2": SHORT,
    "prompt_tuning": SHORT,
    "p_tuning": SHORT,
    "multitask_prompt_tuning": {**SHORT, "rank": 2},
}


@pytest.mark.parametrize(
    "kind",
    often(METHODS, ["full", "last_layers", "adalora", "ia3", "houlsby", "prefix_tuning"]),
)
def test_it_is_that_of_the_prepared_model(kind):
    recipe = recipe_of({"kind": kind, **SAID.get(kind, {})})
    model = build_model(recipe)
    METHODS[kind](model, recipe.method, 1)
    expected = sum(math.prod(weight.shape) for weight in model.trainable_weights)
    assert trainable_parameters(recipe) == expected > 0


def test_the_head_alone_is_far_less_than_all():
    assert (
        0
        < trainable_parameters(recipe_of({"kind": "head"}))
        < 0.5 * trainable_parameters(recipe_of({"kind": "full"}))
    )


def test_more_layers_than_the_base_has_are_refused_in_the_recipe():
    with pytest.raises(ValueError, match=r"method\.layers: 9\b.*model\.kind: masked_transformer"):
        recipe_of({"kind": "last_layers", "layers": 9})


def test_gradients_and_moments_are_of_what_is_trained_and_weights_are_all():
    for method in ({"kind": "full"}, {"kind": "houlsby", "bottleneck": 3}, {"kind": "lora", "rank": 1}):
        costs = tuning_costs(recipe_of(method))
        model = build_model(recipe_of(method))
        METHODS[method["kind"]](model, recipe_of(method).method, 1)
        assert costs.weights == 4 * sum(math.prod(weight.shape) for weight in model.weights)
        assert (costs.gradients, costs.moments) == (4 * costs.trainable, 8 * costs.trainable)
        assert costs.total == costs.weights + 12 * costs.trainable
