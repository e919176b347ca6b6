"""The adapter of a run becomes a folder that peft loads."""

import os
from typing import Any

import numpy as np
from keras import ops

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Array
from firth.interop.peft.kinds import KINDS
from firth.interop.peft.loading import CONFIG_FILE, PREFIX, WEIGHTS_FILE
from firth.interop.peft.modules import Module, modules_of
from firth.interop.written import Written
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.reading.bundles import NoBundleError
from firth.recipes.reading.method_sources import adapter_next_to
from firth.recipes.run.base import ADAPTER_FILE
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import spec_of, write_tensors
from firth.tuning import AdapterError, load_adapter
from firth.tuning.adding import places_of


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

    Args:
        model: Model with additions.
        recipe: Recipe of the model.
        method: Method that made the additions.
        folder: Place of the folder, where nothing is.

    Raises:
        InteropError: for additions that peft does not have.
        FileExistsError: if there is something.
    """
    if method.kind not in KINDS:
        raise InteropError(f"method.kind: {method.kind} is not one that peft has: {', '.join(KINDS)}")
    kind = KINDS[method.kind]
    added: dict[str, list[Module]] = {}
    modules = modules_of(model, recipe)
    for module in modules:
        if module.place.layer.addition(module.place.name) is not None:
            added.setdefault(module.name, []).append(module)
    known = {each.place.path for each in modules}
    for place in places_of(model):
        if place.layer.addition(place.name) is not None and place.path not in known:
            raise InteropError(f"{place.path} is not a linear layer in torch, so peft cannot adapt it")
    layers: dict[str, dict[str, Array]] = {}
    patterns: dict[str, dict[str, Any]] = {}
    for name, parts in added.items():
        layers[name], own = kind.write(parts, [_weights(each) for each in parts], method)
        for key, value in own.items():
            patterns.setdefault(key, {})[name] = value
    config = {
        "peft_type": kind.peft_type,
        "task_type": None,
        "base_model_name_or_path": None,
        "inference_mode": True,
        **kind.config(method, layers, any(each.inputs_first for parts in added.values() for each in parts)),
        **patterns,
    }
    tensors = {
        f"{PREFIX}{name}.{end}": np.ascontiguousarray(each, "float32")
        for name, ends in layers.items()
        for end, each in ends.items()
    }
    specs = {name: spec_of(each) for name, each in tensors.items()}
    with storage.whole_folder(folder) as unfinished:
        storage.write_json(os.path.join(unfinished, CONFIG_FILE), config, indent=2)
        write_tensors(os.path.join(unfinished, WEIGHTS_FILE), specs, tensors.items(), {"format": "pt"})


def _weights(module: Module) -> dict[str, Any]:
    """Returns the weights of an addition by name, and whether it changes what a projection reads."""
    addition: Any = module.place.layer.addition(module.place.name)
    found: dict[str, Any] = {each.name: ops.convert_to_numpy(each.value) for each in addition.weights}
    return {**found, "of_inputs": getattr(addition, "of_inputs", False)}
