"""Adapters: the weights that a method has trained, saved with the digest of the base bundle."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from firth import storage
from firth.layers.elements.seeds import undrawn
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.builders import build_model
from firth.models.bundle import specs_of, weights_by_path
from firth.models.bundle_weights import share_base, start_from
from firth.recipes.base.errors import first_of
from firth.recipes.reading.bundles import digest_of_bundle
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.base import ADAPTER_FILE
from firth.recipes.run.kinds import run_recipe_from_json
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tuning.method import Method
from firth.storage.tensor_files import open_tensors, write_tensors
from firth.tuning.additions import merge
from firth.tuning.method_kinds import METHODS

_FORMAT = 1
_WEIGHTS = "adapter.safetensors"


class AdapterError(ValueError):
    """A folder does not hold an adapter, or holds one of another base."""


def save_adapter(model: BackboneWithHeads, recipe: RunRecipe, folder: str | os.PathLike[str]) -> None:
    """Writes the weights that a run has trained, `adapter.safetensors`, and `adapter.json`.

    The latter has the digest of the run's base, and the recipe. The folder appears whole or not at all.

    Args:
        model: Trained model, whose method has frozen all else.
        recipe: Recipe of the run, which has a base.
        folder: Place of the folder, where nothing is.

    Raises:
        FileExistsError: if there is something.
        ValueError: for a recipe without a base.
    """
    if recipe.base is None:
        raise ValueError("an adapter belongs to a base, and the recipe has none")
    belongs = {"base": recipe.base.digest, "method": recipe.trained_by.kind}
    _write(model, {**belongs, "recipe": json.loads(recipe.to_json())}, folder)


def save_additions(model: BackboneWithHeads, method: Method, folder: str | os.PathLike[str]) -> None:
    """Writes what was added to a model and all else that is trained, as `save_adapter`, without a recipe.

    It belongs to every model whose other weights are those of this one.

    Args:
        model: Trained model, to which `METHODS` has added something.
        method: Method that did.
        folder: Place of the folder, where nothing is.

    Raises:
        FileExistsError: if there is something.
    """
    belongs = {"frozen": _digest_of_frozen(model), "method": method.kind}
    _write(model, {**belongs, "values": json.loads(method.to_json())}, folder)


def _write(model: BackboneWithHeads, belongs: Mapping[str, Any], folder: str | os.PathLike[str]) -> None:
    weights = _trained(model)
    arrays = ((path, np.asarray(each.value)) for path, each in weights.items())
    parameters = sum(math.prod(each.shape) for each in weights.values())
    said = {"library": "firth", "format": _FORMAT, "parameters": parameters, **belongs}
    with storage.whole_folder(folder) as unfinished:
        write_tensors(os.path.join(unfinished, _WEIGHTS), specs_of(weights), arrays, {"library": "firth"})
        storage.write_json(os.path.join(unfinished, ADAPTER_FILE), said, indent=1)


def _trained(model: BackboneWithHeads) -> dict[str, keras.Variable]:
    trained = {id(weight) for weight in model.trainable_weights}
    return {path: each for path, each in weights_by_path(model).items() if id(each) in trained}


def _digest_of_frozen(model: BackboneWithHeads) -> str:
    """Returns the SHA-256 over the paths and values of all weights that are not trained, in hex."""
    whole, trained = hashlib.sha256(), _trained(model)
    for path, each in sorted(weights_by_path(model).items()):
        if path not in trained:
            value = np.asarray(each.value)
            whole.update(f"{path} {value.dtype} {value.shape}\n".encode())
            whole.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
    return whole.hexdigest()


def load_adapter(
    folder: str | os.PathLike[str], bundle: str | os.PathLike[str], dtype: Any = None
) -> tuple[BackboneWithHeads, AdaptingRecipe]:
    """Returns the model of a run that has trained an adapter, with its additions, and the recipe.

    Args:
        folder: Folder that `save_adapter` wrote, `adapter` next to a run's bundle.
        bundle: Folder of the bundle that the run started from.
        dtype: A Keras dtype or policy instead of the recipe's `training.precision`.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or writing it was cut short.
        AdapterError: if its files cannot be read, or the bundle is another one, with both digests.
        firth.models.BundleError: if the bundle cannot be read.

    Example: see `tests/tuning/adapters_test.py`.
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        recipe = _recipe_of(local)
        _check_base(os.fspath(folder), recipe.base.digest, os.fspath(bundle))
        with undrawn():
            model = build_model(recipe, dtype)
        if not _fill(model, recipe, bundle, local):
            # A head that is not trained is as the seed draws it.
            model = build_model(recipe, dtype)
            _fill(model, recipe, bundle, local)
    return model, recipe


def _fill(
    model: BackboneWithHeads, recipe: AdaptingRecipe, bundle: str | os.PathLike[str], folder: str
) -> bool:
    """Adds what a method adds, and reads all weights; false if neither base nor adapter has some of them."""
    lacking = start_from(model, bundle).absent
    METHODS[recipe.method.kind](model, recipe.method, 1)
    read = _assign(model, os.path.join(folder, _WEIGHTS))
    return set(lacking) <= read


def method_of_additions(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Returns the values of the method of a folder that `save_additions` wrote; None for another one.

    Args:
        folder: The folder.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or writing it was cut short.
        AdapterError: if its description cannot be read.
    """
    storage.check_whole(folder)
    path = os.path.join(folder, ADAPTER_FILE)
    try:
        said = storage.read_json(path)
    except (OSError, ValueError) as error:
        raise AdapterError(f"{path} cannot be read: {error}") from error
    values = said.get("values") if isinstance(said, dict) and said.get("format") == _FORMAT else None
    return values if isinstance(values, dict) else None


def load_additions(model: BackboneWithHeads, folder: str | os.PathLike[str]) -> None:
    """Reads the weights of a folder that `save_additions` wrote.

    Args:
        model: Model to which its method has added something.
        folder: The folder.

    Raises:
        AdapterError: if the weights that are not trained are not those that it belongs to, with both digests,
            or if its files cannot be read.
    """
    with storage.local_copy(folder) as local:
        wanted, found = (
            storage.read_json(os.path.join(local, ADAPTER_FILE)).get("frozen"),
            _digest_of_frozen(model),
        )
        if wanted != found:
            raise AdapterError(
                f"{os.fspath(folder)} belongs to a model whose other weights are {wanted}, but here they are "
                f"{found}"
            )
        _assign(model, os.path.join(local, _WEIGHTS))


def load_adapters(
    folders: Mapping[str, str | os.PathLike[str]], bundle: str | os.PathLike[str], dtype: Any = None
) -> dict[str, tuple[BackboneWithHeads, AdaptingRecipe]]:
    """Returns the models and recipes of several adapters of a base, whose weights are in memory once.

    Args:
        folders: Folders that `save_adapter` wrote, by names of the adapters.
        bundle: Folder of the bundle that all runs started from.
        dtype: A Keras dtype or policy instead of the recipes' `training.precision`.

    Raises:
        firth.storage.NotWholeError: as for `load_adapter`.
        AdapterError: as for `load_adapter`.
        firth.models.BundleError: as for `load_adapter`.

    Example: see `tests/serving/adapter_export_test.py`.
    """
    held: dict[str, keras.Variable] = {}
    loaded = {}
    for name, folder in folders.items():
        loaded[name] = load_adapter(folder, bundle, dtype)
        share_base(loaded[name][0], held)
    return loaded


def load_merged(
    folder: str | os.PathLike[str], bundle: str | os.PathLike[str], dtype: Any = None
) -> tuple[BackboneWithHeads, AdaptingRecipe]:
    """Returns the model of a run that has trained an adapter, which is a part of its weights, and the recipe.

    The recipe names the bundle as its base.

    Args:
        folder: Folder that `save_adapter` wrote.
        bundle: Folder of the bundle that the run started from.
        dtype: A Keras dtype or policy instead of the recipe's `training.precision`.

    Raises:
        firth.storage.NotWholeError: if there is no such folder, or writing it was cut short.
        AdapterError: as for `load_adapter`, and for one of a method that does not merge.
        firth.models.BundleError: if the bundle cannot be read.

    Example: see `tests/tuning/adapters_test.py`.
    """
    storage.check_whole(folder)
    with storage.local_copy(folder) as local:
        method = _recipe_of(local).method
    if not method.merges:
        raise AdapterError(
            f"{os.fspath(folder)}: method.kind: {method.kind} does not merge; the bundle of the run that "
            "trained it has base and additions"
        )
    model, recipe = load_adapter(folder, bundle, dtype)
    merge(model)
    base = recipe.base.model_copy(update={"bundle": os.fspath(bundle)})
    return model, recipe.model_copy(update={"base": base})


def _recipe_of(folder: str) -> AdaptingRecipe:
    path = os.path.join(folder, ADAPTER_FILE)
    try:
        said = storage.read_json(path)
        known = isinstance(said, dict) and said.get("library") == "firth" and said.get("format") == _FORMAT
        if known and "recipe" not in said:
            raise ValueError("it is of add_adapter, and has no recipe; open its model, and call load_adapter")
        recipe = run_recipe_from_json(json.dumps(said["recipe"])) if known else None
    except (OSError, ValueError, KeyError) as error:
        raise AdapterError(f"{path} cannot be read: {error}") from error
    if not isinstance(recipe, AdaptingRecipe):
        raise AdapterError(f"{path} is not of format {_FORMAT} of firth's adapters")
    return recipe


def _check_base(folder: str, wanted: str, bundle: str) -> None:
    found = digest_of_bundle(bundle)
    if found != wanted:
        raise AdapterError(f"{folder} belongs to the base {wanted}, but {bundle} is {found}")


def _assign(model: BackboneWithHeads, path: str) -> set[str]:
    variables = _trained(model)
    file = open_tensors(path, AdapterError)
    differing = [
        name
        for name in sorted(variables.keys() | set(file))
        if name not in variables or name not in file or file.spec(name).shape != tuple(variables[name].shape)
    ]
    if differing:
        raise AdapterError(f"{path} does not have the weights of its recipe: {first_of(differing)}")
    for name, variable in variables.items():
        variable.assign(file[name])
    return set(variables)
