"""Warnings about a recipe with a base that can run as it is."""

from typing import Any

from firth.recipes.reading.raw_recipes import RawRecipe
from firth.recipes.run.base import TRAINING
from firth.recipes.run.recipe import Recipe

_FROM_NOTHING = (("training", "steps"), ("training", "optimizer", "learning_rate"))


def base_notices(recipe: Recipe, raw: RawRecipe) -> list[str]:
    """Returns one line for each value of a preset that is meant for weights drawn by a seed.

    Args:
        recipe: Recipe, as `load_with_places` returns it.
        raw: Origins of its values, as `load_with_places` returns them.

    Example:

    >>> from firth.recipes.reading.loading import load_with_places
    >>> base_notices(*load_with_places("bert_base"))
    []
    """
    if recipe.base is None:
        return []
    said = recipe.model_dump()
    return [
        f"{'.'.join(path)}: {_at(said, path):,} is the preset's, for a start from nothing; a run with a base "
        f"and no preset has {_at({'training': TRAINING}, path):,}"
        for path in _FROM_NOTHING
        if raw.origin(path).of_preset
    ]


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        values = values[key]
    return values
