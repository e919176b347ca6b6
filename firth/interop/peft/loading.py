"""A folder that peft has written becomes additions to the model of a bundle."""

import dataclasses
import os
from typing import Any

from firth.interop.bundles import recipe_of
from firth.interop.errors import InteropError
from firth.interop.peft.kind import PeftKind
from firth.interop.peft.kinds import KINDS
from firth.interop.peft.layers import read_heads
from firth.interop.untrusted_files import read_mapping
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import load_model
from firth.recipes.base.errors import first_of
from firth.storage.tensor_files import open_tensors
from firth.tuning import TuningError

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"


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

    Example: see `tests/interop/peft/loading_test.py`.
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
