"""Turns the options of a command into a checked recipe."""

import json
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firth.cli.output import ExitCode, fail, note

if TYPE_CHECKING:
    from firth.recipes import Recipe
    from firth.recipes.reading.raw_recipes import Option


def recipe_or_exit(
    name: str | None,
    options: Sequence["str | Option"] = (),
    require_all: bool = False,
    root: pathlib.Path | None = None,
) -> "Recipe":
    """Loads a recipe; if it is not valid, prints one problem a line and ends the command."""
    from firth.recipes import RecipeError
    from firth.recipes.reading.bases import base_notices
    from firth.recipes.reading.loading import load_with_places
    from firth.recipes.reading.requirements import missing, too_few_documents
    from firth.recipes.run.advice import notices

    try:
        recipe, places = load_with_places(name, options, root)
    except RecipeError as error:
        fail(str(error), ExitCode.USAGE)
    if problems := (missing(recipe, places) or too_few_documents(recipe, places)) if require_all else []:
        fail("\n".join(problems), ExitCode.USAGE)
    for notice in [*notices(recipe), *base_notices(recipe, places)]:
        note(notice)
    return recipe


def sources_option(text: Sequence[str], jsonl: Sequence[str], text_key: str) -> list["Option"]:
    """Returns the option that puts the given files in the place of a recipe's sources, if any are given.

    Example:

    >>> sources_option(["/b/*.txt"], [], "text")
    [Option(assignment='sources=[{"kind": "text", "paths": ["/b/*.txt"]}]', said='--text /b/*.txt')]
    >>> sources_option([], [], "text")
    []
    """
    from firth.recipes.reading.raw_recipes import Option

    sources: list[dict[str, Any]] = []
    if text:
        sources.append({"kind": "text", "paths": list(text)})
    if jsonl:
        sources.append({"kind": "jsonl", "paths": list(jsonl), "text_key": text_key})
    said = [f"--text {each}" for each in text] + [f"--jsonl {each}" for each in jsonl]
    return [Option(f"sources={json.dumps(sources)}", " ".join(said))] if sources else []


def base_option(base: str | None) -> list["Option"]:
    """Returns the option that a run goes on from a model, if one is given.

    Example:

    >>> base_option("minilm")
    [Option(assignment='base.bundle="minilm"', said='--base minilm')]
    """
    from firth.recipes.reading.raw_recipes import Option

    return [] if base is None else [Option(f"base.bundle={json.dumps(base)}", f"--base {base}")]
