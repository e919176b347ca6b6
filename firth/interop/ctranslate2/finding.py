"""Which family a recipe's model belongs to."""

from collections.abc import Callable, Iterator
from typing import Any

from firth.interop.ctranslate2.families import FAMILIES
from firth.interop.ctranslate2.specs import Specifier
from firth.interop.errors import InteropError
from firth.interop.hugging_face import families
from firth.interop.hugging_face.family import Family
from firth.recipes.base.choices import config_of
from firth.recipes.models.model import AnyModel
from firth.recipes.run.run_recipe import RunRecipe


def specification_of(recipe: RunRecipe) -> Callable[[Specifier], Any]:
    """Returns what makes the specification of a recipe's model.

    Args:
        recipe: Recipe of the model.

    Raises:
        InteropError: for a family that CTranslate2 does not run, by name, with those that it runs.
    """
    found = _family_of(recipe)
    if found not in FAMILIES:
        titles = ", ".join(title for title, _ in FAMILIES.values())
        raise InteropError(
            f"{recipe.name} ({found}) cannot be expressed for CTranslate2, which runs {titles}"
        )
    return FAMILIES[found][1]


def _family_of(recipe: RunRecipe) -> str:
    """Returns a family's name; of a model that Hugging Face's format has no family for, that of its kind."""
    if recipe.goal.mixes_masks:
        return recipe.goal.kind
    able = [each for each in families.FAMILIES.values() if _expresses(each, recipe)]
    if not able:
        return recipe.model.kind
    with_heads = (each for each in able if each.objective(()).heads == recipe.goal.heads)
    return next(with_heads, able[0]).model_type


def _expresses(family: Family, recipe: RunRecipe) -> bool:
    return any(_says(family, model) for model in _plain_forms(recipe.model))


def _says(family: Family, model: AnyModel) -> bool:
    try:
        family.write_config(model)
    except InteropError:
        return False
    return True


def _plain_forms(model: Any) -> Iterator[AnyModel]:
    """Yields a model without what only training reads, its width of heads left out and written out."""
    values = {
        name: value for name, value in model.model_dump(mode="json").items() if "initializer" not in name
    }
    if "embeddings" in values:
        values["embeddings"].pop("initializer_stddev")
    if "attention" in values:
        values["feed_forward"] |= {"width": model.inner_width, "dropout": 0.0}
        values["attention"] |= {"dropout": 0.0}
        values |= {"dropout": 0.0} | ({"output_dropout": 0.0} if "output_dropout" in values else {})
        yield config_of("model", AnyModel, values)
        values["attention"] |= {"head_width": model.head_width}
    yield config_of("model", AnyModel, values)
