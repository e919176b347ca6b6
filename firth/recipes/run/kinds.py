"""The kinds of runs."""

import json

from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.imported_recipe import ImportedRecipe, ImportedTaskRecipe
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

# By a key of this kind that none of the later ones has.
RUN_RECIPES: dict[str, type[RunRecipe]] = {
    kind.own_key: kind for kind in (Recipe, ImportedTaskRecipe, AdaptingRecipe, ImportedRecipe)
}


def run_recipe_from_json(text: str) -> RunRecipe:
    """Returns the recipe that `to_json` wrote, of a run of whichever kind.

    Raises:
        ValueError: if the text is not the recipe of a run.
    """
    data = json.loads(text)
    kind = next((kind for key, kind in RUN_RECIPES.items() if key in data), Recipe)
    return kind.from_json(text)
