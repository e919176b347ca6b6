"""The adapter of a run becomes a folder that peft loads."""

import os
from typing import Any

import numpy as np

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.formats import Written
from firth.interop.peft.kinds import KINDS
from firth.interop.peft.loading import CONFIG_FILE, WEIGHTS_FILE
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.reading.bundles import NoBundleError
from firth.recipes.reading.method_sources import adapter_next_to
from firth.recipes.run.base import ADAPTER_FILE
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import spec_of, write_tensors
from firth.tuning import AdapterError, load_adapter


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
        model, recipe = load_adapter(adapter, base, "float32")
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
