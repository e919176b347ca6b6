"""From a command line's options to a checked recipe."""

import glob
import json
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from firth.cli.output import ExitCode, fail, note

if TYPE_CHECKING:
    from firth.recipes import Recipe


def recipe_or_exit(name: str, options: Sequence[str] = ()) -> "Recipe":
    """Loads a recipe; what is wrong with it ends the command, one problem a line."""
    from firth.recipes import RecipeError, load_recipe
    from firth.recipes.advice import notices

    try:
        recipe = load_recipe(name, options)
    except RecipeError as error:
        fail(str(error), ExitCode.USAGE)
    for notice in notices(recipe):
        note(notice)
    return recipe


def sources_option(text: Sequence[str], jsonl: Sequence[str], text_key: str) -> list[str]:
    """Returns the override that puts the given files in the place of a recipe's sources, if any are given.

    Example:

    >>> sources_option(["/b/*.txt"], [], "text")
    ['sources=[{"kind": "text", "paths": ["/b/*.txt"]}]']
    >>> sources_option([], [], "text")
    []
    """
    sources: list[dict] = []
    if text:
        sources.append({"kind": "text", "paths": [_absolute(pattern) for pattern in text]})
    if jsonl:
        sources.append(
            {"kind": "jsonl", "paths": [_absolute(pattern) for pattern in jsonl], "text_key": text_key}
        )
    return [f"sources={json.dumps(sources)}"] if sources else []


def require_files(recipe: "Recipe") -> None:
    """Ends the command if a pattern of the recipe's sources matches no file."""
    from firth.recipes.paths import suggest_path

    here = pathlib.Path.cwd()
    missing = [
        f"source {source.name}: {pattern} matches no file (seen from {here}){suggest_path(pattern)}"
        for source in recipe.sources
        for pattern in getattr(source, "paths", ())
        if not _is_remote(pattern) and not any(map(os.path.isfile, glob.iglob(pattern, recursive=True)))
    ]
    if missing:
        fail("\n".join(missing), ExitCode.USAGE)


def _is_remote(pattern: str) -> bool:
    return "://" in pattern


def _absolute(pattern: str) -> str:
    """A run may be continued from another folder, so what it reads is written out in full."""
    return pattern if _is_remote(pattern) else os.path.abspath(os.path.expanduser(pattern))
