"""Differences between recipes, key by key."""

from collections.abc import Iterator, Sequence
from typing import Any

from firth.recipes.run.run_recipe import RunRecipe

# Value of a key that a recipe does not have, since one of its parts is of another kind.
ABSENT = "-"


def differences(recipes: Sequence[RunRecipe]) -> dict[str, list[Any]]:
    """Returns the dotted keys whose values differ, each with the value of each recipe, in their order.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> differences([load_recipe("bert_tiny"), load_recipe("bert_tiny", ["training.steps=7", "seed=1"])])
    {'seed': [42, 1], 'training.steps': [600, 7]}
    """
    flat = [dict(_leaves(recipe.model_dump(mode="json"), "")) for recipe in recipes]
    keys = dict.fromkeys(key for values in flat for key in values)
    found = {key: [values.get(key, ABSENT) for values in flat] for key in keys}
    return {key: values for key, values in found.items() if any(value != values[0] for value in values)}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not items:
        yield path, value
    for key, item in items:
        yield from _leaves(item, f"{path}.{key}" if path else str(key))
