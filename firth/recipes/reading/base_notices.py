"""Warnings about a recipe with a base that can run as it is."""

from functools import reduce
from operator import getitem
from typing import Any

from firth.recipes.reading.raw_recipes import RawRecipe
from firth.recipes.run.base import TRAINING
from firth.recipes.run.recipe import Recipe

_FROM_NOTHING = (("training", "steps"), ("training", "optimizer", "learning_rate"))


def base_notices(recipe: Recipe, raw: RawRecipe) -> list[str]:
    """Returns one line for each value of a preset that is meant for weights drawn by a seed.

    Example:

    >>> from firth.recipes.reading.loading import load_with_places
    >>> base_notices(*load_with_places("bert_base"))
    []
    """
    if recipe.base is None:
        return []
    said: Any = recipe.model_dump()
    of_base: Any = {"training": TRAINING}
    return [
        f"{'.'.join(path)}: {reduce(getitem, path, said):,} is the preset's, for a start from nothing; a run "
        f"with a base and no preset has {reduce(getitem, path, of_base):,}"
        for path in _FROM_NOTHING
        if raw.origin(path).of_preset
    ]
