"""The kinds of runs."""

from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.imported import ImportedRecipe
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

# By the key that only this kind has.
RUN_RECIPES: dict[str, type[RunRecipe]] = {
    kind.own_key: kind for kind in (Recipe, AdaptingRecipe, ImportedRecipe)
}
