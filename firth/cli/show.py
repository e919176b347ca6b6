"""`firth show`: prints a resolved recipe, and its parameters, operations and memory."""

import typer

from firth.cli import commands
from firth.cli.recipe_options import recipe_or_exit


def register(app: typer.Typer) -> None:
    """Adds the subcommand.

    Args:
        app: Command to add it to.
    """
    examples = commands.epilog(
        "firth show bert_mini",
        "firth show bert_mini --set training.steps=500",
        "firth show bert_base > my_recipe.yaml",
    )
    app.command("show", epilog=examples)(_show)


def _show(recipe: commands.RecipeName, overrides: commands.Overrides = None) -> None:
    """Checks a recipe and prints it in full, with its parameter count, FLOPs and memory.

    What is printed is itself a recipe file.
    """
    from firth.cli.costs import cost_lines
    from firth.recipes import recipe_to_yaml

    checked = recipe_or_exit(recipe, overrides or ())
    for line in cost_lines(checked):
        typer.echo(f"# {line}")
    typer.echo(recipe_to_yaml(checked), nl=False)
