"""Fills a recipe in from the model bundle that it continues, its `base`."""

import os
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from typing import Any

from firth import storage
from firth.recipes.base.errors import RecipeError
from firth.recipes.base.file_names import NamesFiles, absolute
from firth.recipes.base.yaml_text import Path
from firth.recipes.reading.bundles import (
    ImportBase,
    NoBundleError,
    bundle_in,
    checkpoints_of,
    digest_of_bundle,
    find_bundle,
    may_be_base,
)
from firth.recipes.reading.differences import differences
from firth.recipes.reading.raw_recipes import Origin, RawRecipe, assign
from firth.recipes.run.base import RECIPE_FILE, TRAINING
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.run_recipe import RunRecipe

BASE = "base"
# The keys that a base sets. Little of the first two may differ; the others may be what fits the model.
_SAME = ("tokenizer", "model")
_TAKEN = (*_SAME, "sequences", "objective")
# How a base makes one vector of a text.
_EMBEDDING = tuple(("export", key) for key in ("pooling", "normalize", "prompt"))
_GROWN = ("tokenizer", "vocabulary_size")

ReadRecipe = Callable[[str], RunRecipe]


def with_base(
    raw: RawRecipe, root: str, read: ReadRecipe, import_base: ImportBase | None = None
) -> RawRecipe:
    """Returns a recipe's values with all that its base brings, and the base with its folder and digest.

    What a preset says of these keys gives way to the base. What a file or an option says of the tokenizer or
    model must be what the base has; rates of dropout may differ. What it says of the sequences, the
    objective or how `embed` makes vectors is taken. A preset's description, which is of its own model, is
    left out. A recipe that extends no preset gets `firth.recipes.run.base.TRAINING` for what it does not say
    of the training.
    """
    said = raw.data.get(BASE)
    if said is None or (isinstance(said, dict) and (_is_written_out(raw) or "bundle" not in said)):
        return raw
    given = said if isinstance(said, dict) else {"bundle": said}
    if "updates" in given and not _covers(raw, "updates"):
        place = raw.origin((BASE, "updates")).place
        raise RecipeError([f"{place}: {BASE}.updates: is written when the recipe is read; leave it out"])
    origin = raw.origin((BASE, "bundle"))
    bundle, recipe = find_base(given["bundle"], origin, root, read, import_base)
    brought = recipe.model_dump(mode="json", include=set(_TAKEN))
    stated = _stated(raw)
    check_stated(raw, stated, brought, given["bundle"])
    known = given.get("digest") if _covers(raw, "bundle") else None
    base = {**given, "bundle": bundle, "digest": known or digest_of_bundle(bundle), "updates": 0}
    if added := _added(given):
        if reason := _why_fixed(recipe):
            key = f"{BASE}: the tokenizer of {given['bundle']} takes no more pieces"
            raise RecipeError([f"{origin.place}: {key}: {reason}"])
        stated = assign(stated, _GROWN, recipe.tokenizer.vocabulary_size + added)
    said = dict(raw.data)
    if raw.origin(("description",)).of_preset:
        said.pop("description", None)
    data = {"name": f"{recipe.name}_continued", **said, **assign(brought, (), stated), BASE: base}
    takes = [path for path in _EMBEDDING if not _is_stated(raw, path)]
    for path in takes:
        data = assign(data, path, getattr(recipe.export, path[-1]))
    if not any(each.of_preset for path, each in raw.origins.items() if path[:1] == ("training",)):
        data = {**data, "training": assign(TRAINING, (), raw.data.get("training") or {})}
    if given.get("take_optimizer") is True:
        place = raw.origin((BASE, "take_optimizer")).place
        data = {**data, BASE: {**base, "updates": _updates(bundle, recipe, data, place)}}
    origins = _origins(raw, origin)
    return RawRecipe(data, {**origins, **dict.fromkeys(takes, origin)})


def find_base(
    said: Any, origin: Origin, root: str, read: ReadRecipe, import_base: ImportBase | None = None
) -> tuple[str, RunRecipe]:
    """Returns the folder of the bundle that a recipe names, and the recipe in it."""
    try:
        bundle = _find(said, origin, root, import_base)
        recipe = _recipe_of(bundle, read)
    except NoBundleError as error:
        raise RecipeError([f"{origin.place}: {BASE}: {error}"]) from None
    if recipe.trained_by.extends_model:
        own = recipe.base.bundle if recipe.base else "its base"
        raise RecipeError(
            [
                f"{origin.place}: {BASE}: {said} has additions of method.kind: {recipe.trained_by.kind}, "
                f"which do not merge, and nothing starts from them; start from {own}"
            ]
        )
    return bundle, recipe


def check_stated(raw: RawRecipe, stated: dict[str, Any], brought: dict[str, Any], bundle: str) -> None:
    """Passes if no stated value of the tokenizer or the model contradicts the base."""
    if problems := [
        f"{raw.origin(path).place}: {'.'.join(path)}: {value!r} is not what the base {bundle} has, "
        f"{has!r}; leave the key out"
        for path, value, has in _contradictions(stated, brought)
    ]:
        raise RecipeError(problems)


def check_same_model(recipe: RunRecipe, blessed: RunRecipe) -> None:
    """Passes if a run with `warm_start` has the model that it starts from; rates of dropout may differ.

    A model with fewer layers would take the weights of those alone, and one with another number of heads
    would read all weights as others than they were.
    """
    if problems := [
        f"warm_start: {key}: {now!r} is not what the model that was blessed last has, {has!r}; set it back, "
        "or leave warm_start out"
        for key, (has, now) in differences([blessed, recipe]).items()
        if key.startswith("model.") and not key.endswith("dropout")
    ]:
        raise RecipeError(problems)


def _updates(bundle: str, recipe: RunRecipe, data: dict[str, Any], place: str) -> int:
    """Returns the updates that the optimizer of a base has made."""
    place = f"{place}: {BASE}.take_optimizer"
    if checkpoints_of(bundle) is None:
        raise RecipeError([f"{place}: {bundle} has weights only: no run with checkpoints is around it"])
    kind, wanted = recipe.training.optimizer.kind, _at(data, ("training", "optimizer", "kind"))[1]
    if wanted not in (kind, None):
        raise RecipeError([f"{place}: training.optimizer.kind: {wanted} has no use for the state of {kind}"])
    before = getattr(recipe, BASE, None)
    return recipe.training.steps + (before.updates if before else 0)


def _is_written_out(raw: RawRecipe) -> bool:
    """Returns whether the base has its digest, and no later layer states a value of the base."""
    return "digest" in raw.data[BASE] and all(_covers(raw, key) for key in raw.data[BASE])


def _covers(raw: RawRecipe, key: str) -> bool:
    """Returns whether the layer of its digest, or one before it, states a key of the base."""
    said = raw.data[BASE]
    if not isinstance(said, dict) or "digest" not in said:
        return False
    layers = [each.layer for path, each in raw.origins.items() if path[:2] == (BASE, key)]
    return max(layers, default=0) <= raw.origin((BASE, "digest")).layer


def _added(given: dict[str, Any]) -> int:
    """Returns the number of pieces that are asked for; validation reports invalid values."""
    words, count = given.get("added_words") or (), given.get("added_count")
    return (len(words) if isinstance(words, list) else 0) + (count if isinstance(count, int) else 0)


def _why_fixed(recipe: RunRecipe) -> str:
    """Returns the reason why the tokenizer of a base takes no more pieces; empty if it does."""
    if recipe.tokenizer.sentinels:
        return "its sentinels are its last pieces, and their ids would change"
    return recipe.tokenizer.fixed_because


def _find(said: Any, origin: Origin, root: str, import_base: ImportBase | None) -> str:
    if not isinstance(said, str) or not said:
        raise NoBundleError(f"must be the name of a run or the path of a bundle, not {said!r}")
    path = absolute(said, origin.folder, NamesFiles(is_folder=True))
    is_path = os.sep in said or said in (os.curdir, os.pardir)
    # A run comes first. A folder with the name of a misspelt run is a base only if it holds a model.
    if not is_path and (storage.is_folder(os.path.join(root, said)) or not may_be_base(path)):
        return find_bundle(said, root)
    try:
        return bundle_in(path)
    except NoBundleError:
        imported = None if import_base is None else import_base(path, root)
        if imported is None:
            raise
        return bundle_in(imported)


def _recipe_of(bundle: str, read: ReadRecipe) -> RunRecipe:
    with storage.local_copy(os.path.join(bundle, RECIPE_FILE)) as path:
        try:
            return read(path)
        except RecipeError as error:
            raise NoBundleError(f"{bundle} holds no recipe of this version of firth: {error}") from None


def _stated(raw: RawRecipe) -> dict[str, Any]:
    """Returns the values of files and options, but of no preset, at the keys that a base brings."""
    stated: dict[str, Any] = {}
    for key in _TAKEN:
        if raw.data.get(key) is None:
            continue
        for path, value in _leaves(raw.data[key], (key,)):
            if not raw.origin(path).of_preset and not _is_written_size(raw, path):
                stated = _put(stated, path, value)
    return stated


def _is_stated(raw: RawRecipe, path: Path) -> bool:
    return _at(raw.data, path)[0] and not raw.origin(path).of_preset


def _is_written_size(raw: RawRecipe, path: Path) -> bool:
    """Returns whether a path is the size of the vocabulary as it was written with the base's digest."""
    said = raw.data[BASE]
    if path != _GROWN or not isinstance(said, dict) or "digest" not in said:
        return False
    return raw.origin(path).layer == raw.origin((BASE, "digest")).layer


def _put(data: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    below = _put(data.get(path[0], {}), path[1:], value) if len(path) > 1 else value
    return {**data, path[0]: below}


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yields what is not a mapping below a value, with its path."""
    if not isinstance(value, dict):
        yield path, value
        return
    for key, below in value.items():
        yield from _leaves(below, (*path, str(key)))


def _contradictions(stated: dict[str, Any], brought: dict[str, Any]) -> Iterator[tuple[Path, Any, Any]]:
    for key in _SAME:
        for path, value in _leaves(stated.get(key, {}), (key,)):
            known, has = _at(brought, path)
            if known and has != value and not path[-1].endswith("dropout"):
                yield path, value, has


def _at(data: Any, path: Path) -> tuple[bool, Any]:
    """Returns the value at a path, or the plain value that is in the way; and whether there is one.

    A key that the base's part does not have is an unknown key, which is reported later.
    """
    for key in path:
        if not isinstance(data, dict):
            return True, data
        if key not in data:
            return False, None
        data = data[key]
    return True, data


def _origins(raw: RawRecipe, base: Origin) -> dict[Path, Origin]:
    """Returns the places of all values: those that the base brings are the place of the base."""
    kept = {path: each for path, each in raw.origins.items() if path[:1] not in _PATHS or not each.of_preset}
    return {**dict.fromkeys(_PATHS, base), **kept}


_PATHS = tuple((key,) for key in _TAKEN)


_FROM_NOTHING = (("training", "steps"), ("training", "optimizer", "learning_rate"))


def base_notices(recipe: Recipe, raw: RawRecipe) -> list[str]:
    """Returns one line for each value of a preset that is meant for weights drawn by a seed.

    Example:

    >>> from firth.recipes.reading.loading import load_with_places
    >>> base_notices(*load_with_places("bert_base"))
    []
    """
    if recipe.base is None:
        return []
    said: Any = recipe.model_dump()
    of_base: Any = {"training": TRAINING}
    return [
        f"{'.'.join(path)}: {reduce(getitem, path, said):,} is the preset's, for a start from nothing; a run "
        f"with a base and no preset has {reduce(getitem, path, of_base):,}"
        for path in _FROM_NOTHING
        if raw.origin(path).of_preset
    ]
