"""`firth merge`: a base and an adapter that was trained on it become one model."""

import pathlib
from typing import TYPE_CHECKING, Annotated

import typer

from firth.cli import commands
from firth.cli.output import ExitCode, run_quietly

if TYPE_CHECKING:
    from firth.recipes.run.adapting import AdaptingRecipe

Base = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The base: a run's name below the root, an imported model's, or a bundle's path.",
        show_default=False,
    ),
]
Adapter = Annotated[
    str,
    typer.Argument(
        metavar="ADAPTER",
        help="Folder of an adapter, or the name of the run that trained it.",
        show_default=False,
    ),
]
Merged = Annotated[
    str | None,
    typer.Option("--name", help="Name among the runs; NAME_merged if it is not given."),
]


def register(app: typer.Typer) -> None:
    """Adds the subcommand."""
    examples = commands.epilog(
        "firth merge minilm minilm_sst2",
        "firth merge minilm adapters/sst2 --name minilm_films",
        "firth predict minilm_films classify 'A film to remember.'",
        after="An adapter of another base is refused, and one of a method that does not merge.",
    )
    app.command("merge", epilog=examples)(_merge)


def _merge(
    base: Base,
    adapter: Adapter,
    name: Merged = None,
    root: commands.Root = commands.DEFAULT_ROOT,
) -> None:
    """Makes a base and an adapter one model, with a bundle and a SavedModel."""
    from firth.cli.bundles import adapter_of, bundle_of, new_run_folder

    made = name or f"{pathlib.PurePath(base).name}_merged"
    place = new_run_folder(root, made)

    def work() -> "AdaptingRecipe":
        from firth.pipelines.imported_models import merge_run

        return merge_run(bundle_of(base, root), adapter_of(adapter, root), place)

    recipe = run_quietly(work, "merge", {ValueError: ExitCode.USAGE})
    at = commands.root_option(root)
    typer.echo(f"{made} is in {place}. To ask it:")
    typer.echo(f"  firth predict {made} {recipe.task.signature.replace('_', '-')} TEXT{at}")
