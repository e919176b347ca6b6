"""A warm start from a model that is not the recipe's, though its weights have the same names and shapes."""

import pytest

from firth.recipes import RecipeError
from firth.training.run_fn import with_base
from tests.training.artifacts import tiny_recipe, write_bundle


@pytest.fixture(scope="module")
def blessed(tmp_path_factory):
    """The served model of an earlier run, next to a bundle of two layers."""
    folder = tmp_path_factory.mktemp("earlier")
    write_bundle(folder / "bundle", changed({"layers": 2}))
    return str(folder / "Format-Serving")


def changed(model, **others):
    recipe = tiny_recipe(steps=1)
    return recipe.model_copy(update={"model": recipe.model.model_copy(update=model), **others})


def test_fewer_layers_and_other_heads_are_refused(blessed):
    heads = tiny_recipe(steps=1).model.attention.model_copy(update={"heads": 1})
    with pytest.raises(RecipeError) as refused:
        with_base(changed({"attention": heads}, warm_start=True), blessed)
    assert [problem.partition(" is not what")[0] for problem in refused.value.problems] == [
        "warm_start: model.layers: 1",
        "warm_start: model.attention.heads: 1",
    ]


def test_other_rates_of_dropout_are_not(blessed):
    recipe = changed({"layers": 2, "dropout": 0.3}, warm_start=True)
    assert with_base(recipe, blessed).base.bundle.endswith("/bundle")
