"""Recipes of each kind of pipeline, whose files need not be there."""

from firth.recipes import load_recipe
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle

DATA = "data={kind: columns, train: /no/such/reviews.csv}"
TASK = "task={kind: classification, labels: [bad, good]}"


def recipe_for(kind, folder, *overrides):
    """Returns a recipe of a pipeline; its base, where it has one, is written to the folder."""
    write_bundle(folder / "base")
    base = f"base={folder}/base"
    if kind == "finetune":
        return load_adapting_recipe(None, [base, DATA, TASK, *overrides])
    return load_recipe("demo", ["sources=[{kind: text, paths: [/no/such/*.txt]}]", base, *overrides])
