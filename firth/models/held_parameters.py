"""Number of parameters that each device holds of a model whose weights are divided."""

import math

from firth.layers.elements.divided_weights import divided_axes
from firth.models.build import build_outline
from firth.recipes.run.run_recipe import RunRecipe


def held_parameters(recipe: RunRecipe) -> int:
    """Returns the number of trained parameters that each device of `training.mesh` holds; all without a mesh.

    Example:

    >>> from firth.recipes import load_recipe
    >>> divided = "training.backend=jax", "training.strategy=model_parallel", "training.mesh={model: 2}"
    >>> [held_parameters(load_recipe("llama_tiny", settings)) for settings in ([], divided)]
    [2460288, 1230464]
    """
    outline = build_outline(recipe)
    parts = recipe.training.mesh.model if recipe.training.mesh else 1
    divided = divided_axes(outline)
    return sum(
        math.prod(each.shape) // (parts if each.path in divided else 1)
        for each in outline.trainable_variables
    )
