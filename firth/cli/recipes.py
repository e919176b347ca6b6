"""`firth recipes`: the presets, and the schema of recipe files."""

from typing import Annotated

import typer

from firth.cli import commands


def register(app: typer.Typer) -> None:
    """Adds the subcommand."""
    examples = commands.epilog("firth recipes", "firth recipes --schema > recipe.schema.json")
    app.command("recipes", epilog=examples)(_recipes)


def _recipes(
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of recipe files, for editors.")
    ] = False,
) -> None:
    """Lists the presets: recipes to run as they are, or to start from with `extends`."""
    if schema:
        from firth.recipes.schema import schema_text

        typer.echo(schema_text(), nl=False)
    else:
        _print_presets()


def _print_presets() -> None:
    from rich.console import Console
    from rich.table import Table

    from firth.recipes import load_recipe, preset_names
    from firth.recipes.counting import parameter_counts

    table = Table(box=None, pad_edge=False)
    table.add_column("preset", style="bold", no_wrap=True)
    table.add_column("parameters", justify="right", no_wrap=True)
    table.add_column("what it is")
    for name in preset_names():
        recipe = load_recipe(name)
        table.add_row(name, f"{parameter_counts(recipe)['total']:,}", recipe.description)
    Console().print(table)
