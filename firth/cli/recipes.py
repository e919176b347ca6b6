"""`firth recipes`: the presets, and the schema of recipe files."""

from typing import Annotated, Literal

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, fail


def _recipes(
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of recipe files, for editors.")
    ] = False,
    runs: Annotated[
        Literal["pretraining", "adapting"] | None,
        typer.Argument(help="Recipes that --schema is of: by default those that pre-train a model."),
    ] = None,
) -> None:
    """Lists the presets: recipes to run as they are, or to start from with `extends`."""
    if schema:
        from firth.recipes import AdaptingRecipe, Recipe
        from firth.recipes.reading.schema import schema_text

        typer.echo(schema_text(AdaptingRecipe if runs == "adapting" else Recipe), nl=False)
    elif runs:
        fail(f"{runs}: names a schema; say firth recipes --schema {runs}", ExitCode.USAGE)
    else:
        _print_presets()


def _print_presets() -> None:
    """Prints a line for each preset, and an empty line between families."""
    from rich.console import Console
    from rich.table import Table

    from firth.cli.costs import count_text
    from firth.recipes import load_recipe, preset_names
    from firth.recipes.counting import parameter_counts
    from firth.recipes.reading.families import family_of

    table = Table(box=None, pad_edge=False)
    table.add_column("preset", style="bold", no_wrap=True)
    table.add_column("parameters", justify="right", no_wrap=True)
    table.add_column("what it is")
    above = None
    for name in preset_names():
        kin = family_of(name).split("_")[0]
        if above not in (None, kin):
            table.add_row()
        recipe, above = load_recipe(name), kin
        table.add_row(name, count_text(parameter_counts(recipe)["total"]), recipe.description)
    Console().print(table)


register = commands.registrar(
    "recipes",
    _recipes,
    "firth recipes",
    "firth recipes --schema > recipe.schema.json",
    "firth recipes --schema adapting > adapting_recipe.schema.json",
)
