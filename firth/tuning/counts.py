"""The number of parameters that a method trains."""

import math

import keras

from firth.models.build import build_model
from firth.recipes.run.adapting import AdaptingRecipe
from firth.tuning.table import METHODS


def trainable_parameters(recipe: AdaptingRecipe) -> int:
    """Returns the number of parameters that a run trains; the model is laid out, and no weight is made.

    Weights that are trained only from some step on are counted.

    Args:
        recipe: Recipe of the run.

    Raises:
        TuningError: if the method cannot prepare the model.

    Example: see `tests/tuning/counts_test.py`.
    """
    with keras.StatelessScope(initialize_variables=False):
        model = build_model(recipe)
        METHODS[recipe.method.kind](model, recipe.method, 1)
        return sum(math.prod(weight.shape) for weight in model.trainable_weights)
