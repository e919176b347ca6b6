"""Checks that a recipe's model can be trained on the devices that it asks for."""

from collections.abc import Iterator

from firth.recipes.base.divisors import nearest_divisor, nearest_multiple
from firth.recipes.run.run_recipe import RunRecipe

_ROWS = "tokenizer.vocabulary_size"


def device_conflicts(recipe: RunRecipe) -> Iterator[str]:
    """Yields a line for each choice of the training that does not work with the model or the goal."""
    if recipe.training.flash_attention and (reason := recipe.model.not_fused):
        yield f"training.flash_attention: true does not work: {reason}"
    mesh = recipe.training.mesh
    if mesh is None or mesh.model == 1:
        return
    of_model = {f"model.{key}": size for key, size in recipe.model.divided_sizes.items()}
    sizes = of_model | recipe.goal.divided_sizes(recipe.model)
    nearest = nearest_divisor(mesh.model, *sizes.values()) if sizes else mesh.model
    for key, size in sizes.items():
        if size % mesh.model:
            yield (
                f"training.mesh.model: {mesh.model} does not divide {key}: {size}; the nearest number that "
                f"divides all parts of the model is {nearest}"
            )
    rows = recipe.tokenizer.vocabulary_size
    if rows % nearest:
        yield (
            f"training.mesh.model: {nearest} does not divide {_ROWS}: {rows}; the nearest size that it "
            f"divides is {nearest_multiple(rows, nearest)}"
        )
