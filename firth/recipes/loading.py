"""Reads recipes: presets by name, files by path, and options on top."""

import difflib
import functools
import importlib.resources
import json
import os
import pathlib
from collections.abc import Sequence

import pydantic

from firth.recipes.drafts import Draft, draft_of, overlay, override
from firth.recipes.errors import RecipeError
from firth.recipes.explain import explain
from firth.recipes.families import in_order, suggest_preset
from firth.recipes.recipe import Recipe
from firth.recipes.yaml_text import read_yaml, write_yaml

EXTENDS = "extends"
SUFFIXES = (".yaml", ".yml")

_PRESETS = importlib.resources.files("firth.recipes").joinpath("presets")


def preset_names() -> tuple[str, ...]:
    """Returns the names of the presets, by family and from small to large.

    Example:

    >>> preset_names()[0], "bert_mini" in preset_names()
    ('demo', True)
    """
    files = (entry.name for entry in _PRESETS.iterdir())
    return in_order(file.removesuffix(".yaml") for file in files if file.endswith(".yaml"))


def load_recipe(name_or_path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Recipe:
    """Returns the recipe of a preset or a YAML file, checked.

    A file may start from a preset, `extends: bert_mini`: its mappings are merged key by key into the
    preset's, its lists replace them. A file that gives no `name` is named after itself.

    Args:
        name_or_path: A preset's name, or a path that holds a `/` or ends in `.yaml` or `.yml`.
        overrides: `key.path=value`, applied in order, such as `training.steps=500`. Values are YAML.

    Raises:
        RecipeError: with one line for each problem found.

    Example:

    >>> load_recipe("bert_mini", ["training.steps=500"]).training.steps
    500
    """
    draft = _read(name_or_path)
    problems: list[str] = []
    for option in overrides:
        try:
            draft = override(draft, option)
        except RecipeError as error:
            problems += error.problems
    if problems:
        raise RecipeError(problems)
    return _checked(draft)


def recipe_to_yaml(recipe: Recipe) -> str:
    """Returns a recipe as YAML with every value written out; `load_recipe` reads it back equal.

    Example:

    >>> print(recipe_to_yaml(load_recipe("bert_tiny"))[:15])
    name: bert_tiny
    """
    return write_yaml(recipe.model_dump(mode="json"))


def _checked(draft: Draft) -> Recipe:
    try:
        return Recipe.model_validate_json(json.dumps(draft.data))
    except pydantic.ValidationError as error:
        raise RecipeError(explain(error, draft, Recipe)) from None


def _read(name_or_path: str | os.PathLike[str]) -> Draft:
    name = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and os.sep not in name and not name.endswith(SUFFIXES):
        if name not in preset_names():
            advice = suggest_preset(name, preset_names())
            raise RecipeError([f"no preset is named {name!r}; {advice} (a file's path ends in .yaml)"])
        return _read_preset(name)
    return _extended(_file_text(pathlib.Path(name)), name, pathlib.Path(name).stem)


@functools.cache
def _read_preset(name: str) -> Draft:
    file = _PRESETS.joinpath(f"{name}.yaml")
    return _extended(file.read_text(encoding="utf-8"), f"presets/{name}.yaml", name)


def _extended(text: str, file: str, stem: str) -> Draft:
    """Returns what a file says, on top of the preset that it extends."""
    draft = draft_of(read_yaml(text, file), file)
    if not isinstance(draft.data, dict):
        raise RecipeError([f"{file}: a recipe is a mapping, such as `extends: bert_mini`"])
    data = {"name": stem, **draft.data}
    parent = data.pop(EXTENDS, None)
    top = Draft(data, draft.origins)
    if parent is None:
        return top
    if parent not in preset_names():
        place = draft.origin((EXTENDS,)).place
        advice = suggest_preset(str(parent), preset_names())
        raise RecipeError([f"{place}: {EXTENDS}: no preset is named {parent!r}; {advice}"])
    return overlay(_read_preset(parent), top)


def _file_text(path: pathlib.Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        beside = [entry.name for entry in path.parent.glob("*") if entry.suffix in SUFFIXES]
        near = difflib.get_close_matches(path.name, beside, n=1)
        advice = f"; did you mean {path.with_name(near[0])}?" if near else ""
        raise RecipeError([f"{path}: no such file{advice}"]) from None
    except UnicodeDecodeError as error:
        raise RecipeError([f"{path}: not UTF-8 at byte {error.start}"]) from None
    except OSError as error:
        raise RecipeError([f"{path}: cannot be read: {error.strerror}"]) from None
