"""What makes the specification of a recipe's model."""

from collections.abc import Callable
from typing import Any

from firth.interop.ctranslate2.families import FAMILIES
from firth.interop.ctranslate2.specs import Specifier
from firth.interop.errors import InteropError
from firth.interop.hugging_face.finding import family_of
from firth.recipes.run.run_recipe import RunRecipe


def specification_of(recipe: RunRecipe) -> Callable[[Specifier], Any]:
    """Returns what makes the specification of a recipe's model."""
    found = _family_name(recipe)
    if found not in FAMILIES:
        titles = ", ".join(title for title, _ in FAMILIES.values())
        raise InteropError(
            f"{recipe.name} ({found}) cannot be expressed for CTranslate2, which runs {titles}"
        )
    return FAMILIES[found][1]


def _family_name(recipe: RunRecipe) -> str:
    """Returns a family's name; of a model that Hugging Face's format has no family for, that of its kind."""
    if recipe.goal.mixes_masks:
        return recipe.goal.kind
    try:
        return family_of(recipe.model, recipe.goal, is_trained=False).model_type
    except InteropError:
        return recipe.model.kind
