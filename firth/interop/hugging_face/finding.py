"""Which family can express a model."""

from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.family import Family
from firth.recipes.goals.goal import Goal


def family_of(model: Any, goal: Goal, is_trained: bool = True) -> Family:
    """Returns the first family that can express a model with its heads, or else without them.

    Example:

    >>> from firth.recipes import load_recipe
    >>> recipe = load_recipe("roberta_tiny")
    >>> family_of(recipe.model, recipe.goal).model_type
    'roberta'
    """
    differences = {name: _differences(family, model, is_trained) for name, family in FAMILIES.items()}
    able = [FAMILIES[name] for name, keys in differences.items() if not keys]
    if able:
        return next((family for family in able if family.heads_of(model, goal)), able[0])
    nearest = min(differences, key=lambda name: _distance(differences[name]))
    raise InteropError(
        f"no family of Hugging Face's format can express this model; the nearest is {nearest}: "
        f"{differences[nearest][0]}"
    )


def _differences(family: Family, model: Any, is_trained: bool) -> list[str]:
    found = family.differences(model)
    return [each for each in found if is_trained or "dropout" not in each.partition(":")[0]]


def _distance(differences: list[str]) -> tuple[bool, bool, int]:
    # A single value that cannot be read at all hides all others.
    is_unread = differences[0].startswith("model: ")
    return is_unread, any(each.startswith("model.kind:") for each in differences), len(differences)
