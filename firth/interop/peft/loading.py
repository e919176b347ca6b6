"""A folder that peft has written becomes additions to the model of a bundle."""

import dataclasses
import os
from typing import Any

import keras
import safetensors

from firth import storage
from firth.interop.bundles import recipe_of
from firth.interop.errors import InteropError
from firth.interop.hugging_face.finding import family_of
from firth.interop.hugging_face.rules import Array
from firth.interop.peft.kinds import KINDS, AdapterKind
from firth.interop.peft.modules import Module, modules_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import load_model
from firth.recipes.base.errors import first_of, suggest
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorFile
from firth.tuning import METHODS, TuningError

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."


@dataclasses.dataclass(frozen=True)
class LoadedAdapter:
    """A model with an adapter of peft's.

    Attributes:
        model: Model of the bundle with the additions; all else of its backbone is frozen.
        method: Method as a recipe has it, whose targets are the projections that were added to.
        left_out: Names of tensors that were not read, such as those of a task's head.
    """

    model: BackboneWithHeads
    method: Any
    left_out: tuple[str, ...]


def load_adapter(
    folder: str | os.PathLike[str], bundle: str | os.PathLike[str], dtype: Any = None
) -> LoadedAdapter:
    """Returns the model of a bundle with an adapter that peft has saved: LoRA, AdaLoRA, LoHa or (IA)3.

    The bundle is that of the adapter's base, brought in by `firth import hf`. `firth.tuning.merge` makes the
    additions a part of its weights.

    Args:
        folder: Folder with `adapter_config.json` and `adapter_model.safetensors`.
        bundle: Folder of the base's bundle.
        dtype: A Keras dtype or policy in the place of the recipe's `training.precision`.

    Raises:
        InteropError: for files that cannot be read, another kind of adapter, a setting that cannot be
            expressed here, and tensors that do not fit the model, with the nearest names.
        firth.models.BundleError: if the bundle cannot be read.

    Example: see `tests/interop/peft/loading_test.py`.
    """
    recipe, model = recipe_of(bundle), load_model(bundle, dtype)
    config, kind = _settings(os.path.join(folder, CONFIG_FILE))
    layers, left_out = _tensors(os.path.join(folder, WEIGHTS_FILE), KINDS[kind], recipe)
    found: dict[str, list[Module]] = {}
    for module in modules_of(model, recipe):
        found.setdefault(module.name, []).append(module)
    for name in layers:
        if name not in found:
            raise InteropError(f"{os.fspath(folder)}: the base has no layer {name}; {suggest(name, found)}")
    places = {name: [_target(each) for each in found[name]] for name in layers}
    try:
        method = KINDS[kind].method(config, layers, places)
        METHODS[kind](model, method, 1)
        for name, tensors in layers.items():
            for module in found[name]:
                addition = module.place.layer.addition(module.place.name)
                for weight, array in KINDS[kind].read(module, tensors, config, method).items():
                    getattr(addition, weight).assign(keras.ops.convert_to_tensor(array))
    except (TuningError, ValueError, KeyError, IndexError) as error:
        raise InteropError(f"{os.fspath(folder)} does not fit the base: {error}") from error
    return LoadedAdapter(model, method, left_out)


def _target(module: Module) -> str:
    return module.place.path.removeprefix("backbone/")


def _settings(path: str) -> tuple[dict[str, Any], str]:
    try:
        config: dict[str, Any] = storage.read_json(path)
    except (OSError, ValueError) as error:
        raise InteropError(f"{path} cannot be read: {error}") from error
    kinds = {each.peft_type: name for name, each in KINDS.items()}
    stated = config.get("peft_type")
    if stated not in kinds:
        raise InteropError(f"{path}: peft_type: {stated} is not one of {', '.join(kinds)}")
    for key, value in KINDS[kinds[stated]].plain.items():
        if config.get(key, value) != value:
            raise InteropError(f"{path}: {key}: {config[key]!r} cannot be expressed here, {value!r} can")
    return config, kinds[stated]


def _tensors(
    path: str, kind: AdapterKind, recipe: RunRecipe
) -> tuple[dict[str, dict[str, Array]], tuple[str, ...]]:
    """Returns the adapter's tensors by layer and end, and the names of the others.

    Layers have their names in the base model, whether the adapter was made for it or for one with heads.
    """
    try:
        file = TensorFile(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise InteropError(f"{path} cannot be read: {error}") from error
    base = f"{family_of(recipe.model, recipe.goal, is_trained=False).base}."
    layers: dict[str, dict[str, Array]] = {}
    others = []
    for name in file:
        end = next((each for each in kind.ends if name.endswith(f".{each}")), None)
        if end is None:
            others.append(name)
            continue
        layer = name.removeprefix(PREFIX).removeprefix(base).removesuffix(f".{end}")
        layers.setdefault(layer, {})[end] = file[name]
    stem = f"{kind.ends[0].split('_')[0]}_"
    if unread := [name for name in others if stem in name]:
        raise InteropError(f"{path}: tensors that cannot be expressed here: {first_of(unread)}")
    if lacking := [name for name, tensors in layers.items() if len(tensors) < len(kind.ends)]:
        raise InteropError(f"{path} lacks tensors of {first_of(lacking)}")
    if not layers:
        raise InteropError(f"{path} has no tensors of {kind.peft_type}")
    return layers, tuple(others)
