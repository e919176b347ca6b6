"""`firth show`: prints a resolved recipe, and its parameters, operations and memory."""

from typing import TYPE_CHECKING

import typer

from firth.cli import commands
from firth.cli.recipe_options import base_option, recipe_or_exit

if TYPE_CHECKING:
    from firth.recipes import Recipe


def _show(
    recipe: commands.RecipeName,
    base: commands.Base = None,
    overrides: commands.Overrides = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Checks a recipe and prints it in full, with its parameter count, FLOPs and memory.

    What is printed is itself a recipe file.
    """
    from firth.cli.costs import cost_lines
    from firth.recipes import recipe_to_yaml

    checked = recipe_or_exit(recipe, [*base_option(base), *(overrides or ())], root=root)
    for line in [*base_lines(checked), *cost_lines(checked)]:
        typer.echo(f"# {line}")
    typer.echo(recipe_to_yaml(checked), nl=False)


def base_lines(recipe: "Recipe") -> list[str]:
    """Returns what a recipe takes from its base, a line each; none without a base.

    Args:
        recipe: Recipe, checked.
    """
    if recipe.base is None:
        return []
    return [
        f"base: {recipe.base.bundle}",
        "from it: tokenizer and model, with their weights; sequences, objective and export.pooling unless "
        "the recipe says others; heads that it lacks are made fresh",
    ]


register = commands.registrar(
    "show",
    _show,
    "firth show bert_mini",
    "firth show bert_mini --set training.steps=500",
    "firth show bert_base > my_recipe.yaml",
    "firth show bert_mini --base minilm",
)
