"""Options that subcommands share, the recipe that they make, and the format of examples in help texts."""

import pathlib
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth.cli.output import ExitCode, fail, note, usage_errors

if TYPE_CHECKING:
    from firth.recipes import Recipe
    from firth.recipes.reading.raw_recipes import Option

Root = Annotated[
    pathlib.Path, typer.Option("--root", envvar="FIRTH_ROOT", help="Folder of all runs.", file_okay=False)
]
DEFAULT_ROOT = pathlib.Path("firth-runs")
RecipeName = Annotated[
    str,
    typer.Argument(metavar="RECIPE", help="A preset's name, or the path of a YAML file.", show_default=False),
]
AnyRecipeName = Annotated[
    str | None,
    typer.Argument(
        metavar="[RECIPE]",
        help="A preset's name, or the path of a YAML file; may be left out with --base.",
        show_default=False,
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME",
        help="Continue from this model instead of weights drawn by the seed: a run's name, that of an "
        "imported model, a bundle's path, or that of another library's folder, which is imported once.",
    ),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's name below the root, or its folder.", show_default=False)
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change one key of the recipe; may be given several times."
    ),
]


def root_option(root: pathlib.Path) -> str:
    """Returns the option of a root for a command to be pasted; empty for the default root.

    Example:

    >>> root_option(pathlib.Path("my runs")), root_option(DEFAULT_ROOT)
    (" --root 'my runs'", '')
    """
    return "" if root == DEFAULT_ROOT else f" --root {shlex.quote(str(root))}"


def epilog(*examples: str, after: str = "") -> str:
    r"""Returns a help text's last part: examples, one a line, and a closing remark.

    Example:

    >>> epilog("firth show 'a [MASK]'").splitlines()[-1]
    "firth show 'a \\[MASK]'"
    """
    escaped = (example.replace("[", r"\[") for example in examples)
    return "\n\n".join(["Examples:", *escaped, *([after] if after else [])])


def registrar(
    name: str, command: Callable[..., None], *examples: str, after: str = "", **settings: Any
) -> Callable[[typer.Typer], Any]:
    """Returns the function that adds a subcommand to the command."""
    return lambda app: app.command(name, epilog=epilog(*examples, after=after), **settings)(command)


def recipe_or_exit(
    name: str | None,
    options: Sequence["str | Option"] = (),
    require_all: bool = False,
    root: pathlib.Path | None = None,
    imports: bool = True,
) -> "Recipe":
    """Loads a recipe; if it is not valid, prints one problem a line and ends the command.

    Args:
        name: Name or path of the recipe.
        options: Values that replace those of the recipe.
        require_all: Whether what a run needs must be there.
        root: Folder of all runs.
        imports: Whether a base that is another library's folder is imported, and not refused.
    """
    from firth.cli.bundles import import_base
    from firth.recipes import RecipeError
    from firth.recipes.reading.bases import base_notices
    from firth.recipes.reading.loading import load_with_places
    from firth.recipes.reading.requirements import missing, notices, too_few_documents

    with usage_errors(RecipeError):
        recipe, places = load_with_places(name, options, root, import_base if imports else None)
    if problems := (missing(recipe, places) or too_few_documents(recipe, places)) if require_all else []:
        fail("\n".join(problems), ExitCode.USAGE)
    for notice in [*notices(recipe), *base_notices(recipe, places)]:
        note(notice)
    return recipe


def sources_option(text: Sequence[str], jsonl: Sequence[str], text_key: str) -> list["Option"]:
    """Returns the option that replaces a recipe's sources by the given files, if any are given.

    Example:

    >>> sources_option(["/b/*.txt"], [], "text")
    [Option(key='sources', value=[{'kind': 'text', 'paths': ['/b/*.txt']}], place='--text /b/*.txt')]
    >>> sources_option([], [], "text")
    []
    """
    from firth.recipes.reading.raw_recipes import Option

    sources: list[dict[str, Any]] = []
    if text:
        sources.append({"kind": "text", "paths": list(text)})
    if jsonl:
        sources.append({"kind": "jsonl", "paths": list(jsonl), "text_key": text_key})
    given = [f"--text {each}" for each in text] + [f"--jsonl {each}" for each in jsonl]
    return [Option("sources", sources, " ".join(given))] if sources else []


def base_option(base: str | None) -> list["Option"]:
    """Returns the option of the model that a run continues from, if one is given.

    Example:

    >>> base_option("minilm")
    [Option(key='base.bundle', value='minilm', place='--base minilm')]
    """
    from firth.recipes.reading.raw_recipes import Option

    return [] if base is None else [Option("base.bundle", base, f"--base {base}")]
