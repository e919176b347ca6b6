"""Time that a step of a recipe's training takes on an accelerator."""

from firth.recipes.counting.accelerators import Accelerator
from firth.recipes.counting.flops import training_flops_per_step
from firth.recipes.counting.memory import memory_bytes, written_bytes
from firth.recipes.run.recipe import Recipe

# An activation is written, read by what comes next and by the backward pass, and its gradient written and
# read.
_PASSES = 5
# The gradient is written, read for its norm and read for the update; the weight is read and written.
_PASSES_OF_GRADIENT, _PASSES_OF_WEIGHT, _PASSES_OF_MOMENTS = 3, 2, 2


def step_seconds(recipe: Recipe, accelerator: Accelerator) -> dict[str, float]:
    """Returns the seconds of one step of the last stage, by what takes them: an estimate.

    `products` are the matrix products of `training_flops_per_step` at the accelerator's rate; with
    rematerialisation the forward pass counts twice. `memory` is the traffic of activations, gradients,
    weights and moments at its bandwidth. Where both overlap, or kernels are fused, a step takes less; where
    products are too small to keep the device busy, more.

    Example:

    >>> from firth.recipes.counting.accelerators import ACCELERATORS
    >>> from firth.recipes.reading.loading import load_recipe
    >>> found = step_seconds(load_recipe("gpt2_small"), ACCELERATORS["h100"])
    >>> sorted(found)
    ['memory', 'products', 'total']
    """
    again = recipe.training.rematerialisation == "blocks"
    parts = recipe.training.gradient_accumulation_steps
    held = memory_bytes(recipe, last_stage=True)
    # Of a block that is computed again, all that it keeps is written and read twice.
    kept = written_bytes(recipe)
    moved = (
        (_PASSES + (2 if again else 0)) * kept
        + _PASSES_OF_GRADIENT * held["gradients"] * parts
        + _PASSES_OF_WEIGHT * held["weights"]
        + _PASSES_OF_MOMENTS * held["moments"]
    )
    products = training_flops_per_step(recipe) * (4 / 3 if again else 1)
    seconds = {
        "products": products / accelerator.rates[recipe.training.precision],
        "memory": moved / accelerator.bandwidth,
    }
    return {**seconds, "total": sum(seconds.values())}
