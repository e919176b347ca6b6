"""Reads recipes: presets by name, files by path, and options on top."""

import functools
import json
import os
import pathlib
import re
from collections.abc import Sequence
from typing import TypeVar

import pydantic

from firth.recipes.base.errors import RecipeError
from firth.recipes.base.file_names import absolute, named_files
from firth.recipes.base.recipe_type import Config, problems_of
from firth.recipes.base.yaml_text import Located, Path, read_yaml, write_yaml
from firth.recipes.reading.bases import BASE, with_base
from firth.recipes.reading.bundles import ImportBase, runs_root
from firth.recipes.reading.families import (
    family_of_preset,
    family_path,
    preset_names,
    read_shared,
    read_size,
    suggest_preset,
)
from firth.recipes.reading.raw_recipes import (
    SUFFIXES,
    Option,
    RawRecipe,
    UnreadableFileError,
    assign,
    overlay,
    override_all,
    raw_recipe_of,
    read_text,
)
from firth.recipes.run.kinds import RUN_RECIPES
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

EXTENDS = "extends"
RunRecipeT = TypeVar("RunRecipeT", bound=RunRecipe)


def load_recipe(
    name_or_path: str | os.PathLike[str] | None,
    overrides: Sequence[str | Option] = (),
    root: str | os.PathLike[str] | None = None,
    import_base: ImportBase | None = None,
) -> Recipe:
    """Returns the recipe of a preset or a YAML file, checked.

    A file may start from a preset, `extends: bert_mini`, or from another file, `extends: ../base.yaml`, which
    is looked up from the folder of the extending file. Its mappings are merged key by key into those of what
    it extends; its lists replace them. A file that gives no `name` is named after itself.

    Relative paths in a recipe file (sources, benchmarks, lists of words) are looked up from the folder of
    that file, and from the working directory if they match no file there. Those in an override are looked up
    from the working directory. The recipe holds their full paths.

    A recipe with a `base` takes tokenizer, model, sequences and objective from that model bundle; see
    `firth.recipes.reading.bases`.

    Args:
        name_or_path: Name of a preset, or a path that holds a `/` or ends in `.yaml` or `.yml`; None for a
            recipe of overrides alone, `base` among them.
        overrides: Assignments `key.path=value`, applied in order, such as `training.steps=500`. Values are
            YAML.
        root: Folder of all runs, where a `base` is looked up by name; without it that of `FIRTH_ROOT`, or
            `firth-runs`.
        import_base: Function that imports a `base` that is another library's folder, such as
            `firth.interop.bases.imported_base`; without it such a folder is refused, with the command.

    Raises:
        RecipeError: with one line for each problem found.

    Example:

    >>> load_recipe("bert_mini", ["training.steps=500"]).training.steps
    500
    """
    return load_with_places(name_or_path, overrides, root, import_base)[0]


def load_with_places(
    name_or_path: str | os.PathLike[str] | None,
    overrides: Sequence[str | Option] = (),
    root: str | os.PathLike[str] | None = None,
    import_base: ImportBase | None = None,
) -> tuple[Recipe, RawRecipe]:
    """Returns the recipe that `load_recipe` returns, and the origin of each value."""
    raw = override_all(None if name_or_path is None else _read(name_or_path), overrides)
    if "task" in raw.data and "sources" not in raw.data:
        place = raw.origin(("task",)).place
        raise RecipeError([f"{place}: task: a recipe that adapts a model is for `firth finetune --recipe`"])
    raw = with_base(raw, runs_root(root), load_run_recipe, import_base)
    return checked_with_full_paths(raw, Recipe)


def checked_with_full_paths(raw: RawRecipe, kind: type[RunRecipeT]) -> tuple[RunRecipeT, RawRecipe]:
    """Returns a checked recipe with the full paths of the files that it names, and its values."""
    recipe, data = checked(raw, kind), raw.data
    for file in named_files(recipe):
        full = absolute(file.pattern, raw.origin(file.key).folder, file.mark)
        if full != file.pattern:
            data = assign(data, file.key, full)
    if data is raw.data:
        return recipe, raw
    raw = RawRecipe(data, raw.origins)
    return checked(raw, kind), raw


def recipe_to_yaml(recipe: RunRecipe) -> str:
    """Returns a recipe as YAML with every value written out; `load_run_recipe` reads it back equal.

    Args:
        recipe: Recipe to write.

    Example:

    >>> print(recipe_to_yaml(load_recipe("bert_tiny"))[:15])
    name: bert_tiny
    """
    return write_yaml(recipe.model_dump(mode="json"))


def load_run_recipe(path: str | os.PathLike[str]) -> RunRecipe:
    """Returns the recipe of a run of any kind that `recipe_to_yaml` wrote.

    Raises:
        RecipeError: with one line for each problem found.
    """
    raw = _read(pathlib.Path(path))
    kinds = [kind for key, kind in RUN_RECIPES.items() if key in raw.data]
    return checked(raw, kinds[0] if kinds else Recipe)


def checked(raw: RawRecipe, kind: type[RunRecipeT]) -> RunRecipeT:
    """Returns the stated recipe, checked."""
    try:
        return kind.model_validate_json(json.dumps(raw.data))
    except pydantic.ValidationError as error:
        raise RecipeError(explain(error, raw, kind)) from None


def _read(name_or_path: str | os.PathLike[str]) -> RawRecipe:
    name = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and not _is_path(name):
        return _preset(name, after=" (a file's path ends in .yaml)")
    return _read_file(pathlib.Path(name), ())


def _is_path(name: str) -> bool:
    return os.sep in name or name.endswith(SUFFIXES)


def _preset(name: str, before: str = "", after: str = "") -> RawRecipe:
    if name not in preset_names():
        advice = suggest_preset(name, preset_names())
        raise RecipeError([f"{before}no preset is named {name!r}; {advice}{after}"])
    return _read_preset(name)


@functools.cache
def _read_preset(name: str) -> RawRecipe:
    family = family_of_preset(name)
    raw, parent, _ = _split(read_size(name), family_path(family), name, None)
    base = _read_shared(family) if parent is None else _read_preset(parent)
    return overlay(base, raw)


@functools.cache
def _read_shared(family: str) -> RawRecipe:
    raw, parent, _ = _split(read_shared(family), family_path(family), family, None)
    return raw if parent is None else overlay(_read_preset(parent), raw)


def read_raw_file(path: pathlib.Path) -> RawRecipe:
    """Returns the values of a recipe file, on top of those that it extends.

    Raises:
        RecipeError: if it cannot be read.
    """
    return _read_file(path, ())


def _read_file(path: pathlib.Path, below: tuple[pathlib.Path, ...]) -> RawRecipe:
    """Returns the values of a file, on top of those of the preset or the file that it extends."""
    folder = pathlib.Path(os.path.abspath(path.parent))
    raw, parent, place = _split(
        read_yaml(read_text(path), os.fspath(path)), os.fspath(path), path.stem, folder
    )
    if parent is None:
        return raw
    if not _is_path(parent):
        return overlay(_preset(parent, f"{place}: {EXTENDS}: "), raw)
    chain = (*below, path.resolve())
    extended = path.parent / os.path.expanduser(parent)
    if extended.resolve() in chain:
        around = [*chain[chain.index(extended.resolve()) :], extended.resolve()]
        names = " -> ".join(os.path.relpath(each, folder) for each in around)
        raise RecipeError([f"{place}: {EXTENDS}: {names} goes in a circle"])
    try:
        return overlay(_read_file(extended, chain), raw)
    except UnreadableFileError as error:
        raise RecipeError([f"{place}: {EXTENDS}: {error}"]) from None


def _split(
    located: Located, file: str, stem: str, folder: pathlib.Path | None
) -> tuple[RawRecipe, str | None, str]:
    """Returns the values of a file without `extends`, the name that it extends, if any, and its place."""
    raw = raw_recipe_of(located, file, folder)
    if not isinstance(raw.data, dict):
        raise RecipeError([f"{file}: a recipe is a mapping, such as `extends: bert_mini`"])
    data = {"name": stem, **raw.data}
    if isinstance(data.get(BASE), str):
        data[BASE] = {"bundle": data[BASE]}
        raw = RawRecipe(data, {**raw.origins, (BASE, "bundle"): raw.origin((BASE,))})
    parent, place = data.pop(EXTENDS, None), raw.origin((EXTENDS,)).place
    if not isinstance(parent, str | None):
        raise RecipeError([f"{place}: {EXTENDS}: must be a preset's name or a file's path, not {parent!r}"])
    return RawRecipe(data, raw.origins), parent, place


_NAMED_KEYS = re.compile(r"([a-z][a-z_0-9]*(?:\.[A-Za-z0-9][\w-]*)*):")


def explain(error: pydantic.ValidationError, raw: RawRecipe, root: type[Config]) -> list[str]:
    """Returns one line for each problem: `place: key: problem`."""
    found, more = problems_of(error, raw.data, root)
    lines = [_line(raw, path, problem) for path, problem in found]
    return lines + ([f"and {more} more problems"] if more else [])


def _line(raw: RawRecipe, path: Path, problem: str) -> str:
    """Returns a problem with the place of the last-set key that it names."""
    named = [(*path, *key.split(".")) for key in _NAMED_KEYS.findall(problem)]
    # Names that others have chosen, such as those of features, may hold any character.
    below = [key for key in raw.origins if key[: len(path)] == tuple(path)]
    named += [key for key in below if problem.startswith(f"{'.'.join(key[len(path) :])}:")]
    said = [raw.origins[key] for key in named if key in raw.origins]
    origin = max(said, key=lambda origin: origin.layer, default=raw.origin(path))
    key = f"{'.'.join(path)}: " if path else ""
    return f"{origin.place}: {key}{problem}"
