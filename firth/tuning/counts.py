"""The parameters that a method trains, and the memory that its training needs."""

import dataclasses
import math
from collections.abc import Iterable

import keras

from firth.models.builders import build_model
from firth.recipes.run.adapting import AdaptingRecipe
from firth.tuning.method_kinds import METHODS

_FLOAT32 = 4


@dataclasses.dataclass(frozen=True)
class TuningCosts:
    """Parameters and bytes of a run that adapts a model.

    Attributes:
        trainable: Number of parameters that it trains.
        weights: Bytes of all weights, float32.
        gradients: Bytes of the gradients of those that are trained.
        moments: Bytes that the optimizer keeps for them.
    """

    trainable: int
    weights: int
    gradients: int
    moments: int

    @property
    def total(self) -> int:
        """Bytes of weights, gradients and moments, without the activations of a step."""
        return self.weights + self.gradients + self.moments


def tuning_costs(recipe: AdaptingRecipe) -> TuningCosts:
    """Returns the parameters and bytes of a run; the model is laid out, and no weight is made.

    Weights that are trained only from some step on are counted as trained.

    Args:
        recipe: Recipe of the run.

    Raises:
        TuningError: if the method cannot prepare the model.

    Example: see `tests/tuning/counts_test.py`.
    """
    with keras.StatelessScope(initialize_variables=False):
        model = build_model(recipe)
        METHODS[recipe.method.kind](model, recipe.method, 1)
        trainable, held = _size(model.trainable_weights), _size(model.weights)
    kept = recipe.training.optimizer.bytes_kept * trainable
    return TuningCosts(trainable, _FLOAT32 * held, _FLOAT32 * trainable, kept)


def trainable_parameters(recipe: AdaptingRecipe) -> int:
    """Returns the number of parameters that a run trains, as `tuning_costs` does.

    Args:
        recipe: Recipe of the run.

    Raises:
        TuningError: if the method cannot prepare the model.

    Example: see `tests/tuning/counts_test.py`.
    """
    return tuning_costs(recipe).trainable


def _size(weights: Iterable[keras.Variable]) -> int:
    return sum(math.prod(weight.shape) for weight in weights)
