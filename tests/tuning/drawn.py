"""Adapters whose weights are drawn, for what is to be done with adapters that are trained."""

import numpy as np

from firth.models import build_model
from firth.models.bundle_weights import start_from
from firth.tuning import METHODS, save_adapter
from tests.tuning.runs import adapting


def drawn(recipe, seed=3):
    """A model of a recipe on its base, with drawn values in all weights that its method trains."""
    model = build_model(recipe)
    start_from(model, recipe.base.bundle)
    METHODS[recipe.method.kind](model, recipe.method, 1)
    generator = np.random.default_rng(seed)
    for weight in model.trainable_weights:
        weight.assign(weight + generator.normal(0.0, 0.3, weight.shape))
    return model


def write_adapter(folder, method):
    """Writes a base, `bundle`, and `adapter` on it; returns the recipe."""
    recipe = adapting("bert", folder, method)
    save_adapter(drawn(recipe), recipe, folder / "adapter")
    return recipe
