"""Features carried to a machine without TensorFlow, and the figures of the steps that are made there."""

from typing import Any

from firth.recipes.counting import training_flops_per_step
from firth.recipes.counting.accelerators import ACCELERATORS
from firth.recipes.run.recipe import Recipe

RECIPE, FEATURES = "recipe.json", "features.npz"


def figures_of(
    recipe: Recipe, seconds: float, losses: list[float], accelerator: str | None
) -> dict[str, Any]:
    """Returns the figures of some steps.

    Args:
        recipe: Recipe of the steps.
        seconds: Time of a step.
        losses: Loss of each step.
        accelerator: Name of the accelerator, whose rate utilisation is a share of; None for no share.
    """
    flops = training_flops_per_step(recipe)
    rate = ACCELERATORS[accelerator].rates[recipe.training.precision] if accelerator else None
    return {
        "recipe": recipe.name,
        "precision": recipe.training.precision,
        "batch_size": recipe.training.batch_size,
        "length": recipe.sequences.length,
        "first_loss": losses[0],
        "last_loss": losses[-1],
        "seconds_per_step": seconds,
        "rows_per_second": recipe.training.batch_size / seconds,
        "flops_per_step": flops,
        "flops_per_second": flops / seconds,
        "utilisation": None if rate is None else flops / seconds / rate,
    }
