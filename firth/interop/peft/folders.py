"""Folders of peft: written from the adapter of a run, or read into the model of a bundle."""

import dataclasses
import os
from typing import Any

import numpy as np

from firth import storage, tuning
from firth.interop.bundles import recipe_of
from firth.interop.errors import InteropError
from firth.interop.formats import Written
from firth.interop.peft.kind import PeftKind
from firth.interop.peft.kinds import KINDS
from firth.interop.peft.layers import read_heads
from firth.interop.untrusted_files import read_mapping
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import load_model
from firth.recipes.base.errors import first_of
from firth.recipes.reading.bundles import NoBundleError
from firth.recipes.reading.method_sources import adapter_next_to
from firth.recipes.run.base import ADAPTER_FILE
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import open_tensors, spec_of, write_tensors
from firth.tuning import AdapterError, TuningError

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"


def export_model(bundle: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Written:
    """Writes the adapter of a run as what `peft.PeftModel.from_pretrained` loads.

    It belongs to the run's base as `firth export BASE --format hf` writes it and
    `transformers.AutoModel.from_pretrained` loads it. The task's head, which peft does not have, is left out.

    Args:
        bundle: Path of the run's bundle, next to which is its `adapter`.
        folder: Place of the folder, where nothing is.

    Returns:
        The files that were written, and what they lack.

    Raises:
        InteropError: if the run has no adapter, its base is not in its place any more, or peft has no such
            adapter.
        FileExistsError: if there is something in the folder's place.
    """
    try:
        adapter = adapter_next_to(os.path.normpath(bundle))
    except NoBundleError as error:
        raise InteropError(f"{error}; --format hf writes the whole model") from None
    try:
        base = storage.read_json(os.path.join(adapter, ADAPTER_FILE))["recipe"]["base"]["bundle"]
        model, recipe = tuning.load_adapter(adapter, base, "float32")
    except (AdapterError, ValueError, KeyError, OSError) as error:
        raise InteropError(f"{adapter} cannot be read: {error}") from error
    write_adapter(model, recipe, recipe.method, folder)
    notes = ("left out, since peft adapts the base model alone: the task's head",)
    return Written((CONFIG_FILE, WEIGHTS_FILE), notes)


def write_adapter(
    model: BackboneWithHeads, recipe: RunRecipe, method: Any, folder: str | os.PathLike[str]
) -> None:
    """Writes the additions of a model as peft does.

    Raises:
        FileExistsError: if there is something.
    """
    if method.kind not in KINDS:
        raise InteropError(f"method.kind: {method.kind} is not one that peft has: {', '.join(KINDS)}")
    kind = KINDS[method.kind]
    said, tensors = kind.give_out(model, recipe, method)
    config = {
        "peft_type": kind.peft_type,
        "base_model_name_or_path": None,
        "inference_mode": True,
        **said,
    }
    tensors = {name: np.ascontiguousarray(each, "float32") for name, each in tensors.items()}
    specs = {name: spec_of(each) for name, each in tensors.items()}
    with storage.whole_folder(folder) as unfinished:
        storage.write_json(os.path.join(unfinished, CONFIG_FILE), config, indent=2)
        write_tensors(os.path.join(unfinished, WEIGHTS_FILE), specs, tensors.items(), {"format": "pt"})


@dataclasses.dataclass(frozen=True)
class LoadedAdapter:
    """A model with an adapter of peft's.

    Attributes:
        model: Model of the bundle with the additions; all else of its backbone is frozen.
        method: Method as a recipe has it; its targets, if any, are the projections that were added to.
        left_out: Names of tensors that were not read, which are those of a task's head.
    """

    model: BackboneWithHeads
    method: Any
    left_out: tuple[str, ...]


def load_adapter(
    folder: str | os.PathLike[str],
    bundle: str | os.PathLike[str],
    dtype: Any = None,
    without_heads: bool = False,
) -> LoadedAdapter:
    """Returns the model of a bundle with an adapter that peft has saved.

    LoRA, AdaLoRA, LoHa, (IA)3, prefixes and prompts are read. A head that was trained as a whole
    (`modules_to_save`) comes in if the bundle has the same one.

    The bundle is that of the adapter's base, brought in by `firth import hf`. `firth.tuning.merge` makes
    additions to projections a part of its weights.

    Args:
        folder: Folder with `adapter_config.json` and `adapter_model.safetensors`.
        bundle: Folder of the base's bundle.
        dtype: A Keras dtype or policy that replaces the recipe's `training.precision`.
        without_heads: Whether a trained head that the bundle has no place for may be left out.

    Raises:
        InteropError: for files that cannot be read, another kind of adapter, a setting that cannot be
            expressed here, tensors that do not fit the model, with the nearest names, and a trained head
            that the bundle has no place for, unless `without_heads`.
        firth.models.BundleError: if the bundle cannot be read.

    Example: see `tests/interop/peft/folders_loading_test.py`.
    """
    recipe = recipe_of(bundle)
    config, kind = _settings(os.path.join(folder, CONFIG_FILE))
    file = open_tensors(os.path.join(folder, WEIGHTS_FILE), InteropError)
    model = load_model(bundle, dtype)
    try:
        method, others = kind.take_in(model, recipe, config, file)
        left_out = read_heads(model, recipe, file, others)
        if left_out and not without_heads:
            raise InteropError(
                f"modules_to_save: {first_of(left_out)}: the bundle has no such head; without_heads=True "
                "leaves it out"
            )
    except InteropError as error:
        raise InteropError(f"{os.fspath(folder)}: {error}") from error
    except (TuningError, ValueError, KeyError, IndexError) as error:
        raise InteropError(f"{os.fspath(folder)} does not fit the base: {error}") from error
    return LoadedAdapter(model, method, left_out)


def _settings(path: str) -> tuple[dict[str, Any], PeftKind]:
    config = read_mapping(path)
    kind = next((each for each in KINDS.values() if each.is_of(config)), None)
    if kind is None:
        known = dict.fromkeys(each.peft_type for each in KINDS.values())
        raise InteropError(f"{path}: peft_type: {config.get('peft_type')} is not one of {', '.join(known)}")
    if refused := kind.refused(config):
        raise InteropError(f"{path}: {refused}")
    return config, kind
