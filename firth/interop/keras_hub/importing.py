"""A preset of KerasHub becomes a bundle."""

import os
from collections.abc import Mapping

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.imported import Imported
from firth.interop.keras_hub.preset import Preset
from firth.interop.keras_hub.tokenizers import read_tokenizer
from firth.interop.read import Read
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path


def import_model(path: str | os.PathLike[str], folder: str | os.PathLike[str], name: str) -> Read:
    """Writes a preset as a model bundle, which `firth.models.load_model` reads.

    Args:
        path: Path of the folder that KerasHub's `save_to_preset` wrote.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.

    Returns:
        Which weights the preset lacks, so that they are fresh, and which of its weights have no place.

    Raises:
        InteropError: for what cannot be read, or cannot be expressed here, by file and key.
        FileExistsError: if there is something in the bundle's place.
    """
    preset = Preset(path)
    family = preset.family
    imported = Imported(
        path=preset.path,
        origin=f"{family.backbone} of KerasHub",
        model=preset.model(),
        objective=family.objective,
        vocabulary_size=preset.vocabulary_size,
        tokenizer=read_tokenizer(preset),
    )
    weights = preset.weights()

    def read(model: BackboneWithHeads, recipe: object) -> Read:
        del recipe
        rules = family.rules(imported.model, imported.objective)
        if preset.has_task_head and family.task_head is not None:
            rules += family.task_head(imported.model, imported.objective)
        told = assign(model, rules, weights)
        return Read(told.fresh, (*told.surplus, *preset.surplus))

    return imported.write(name, folder, read)


def assign(model: BackboneWithHeads, rules: list[Rule], weights: Mapping[str, Array]) -> Read:
    """Gives a built model the weights of KerasHub's, and returns what was read.

    Args:
        model: Model of the recipe.
        rules: Rules of all weights that both have.
        weights: Weights of KerasHub's model by name.

    Raises:
        InteropError: for a weight that is not a finite number.
    """
    variables = weights_by_path(model)
    for rule in rules:
        given = [weights[name] for name in rule.theirs]
        for name, each in zip(rule.theirs, given, strict=True):
            if not np.isfinite(each).all():
                raise InteropError(f"{name} holds what is not a finite number")
        variables[rule.ours].assign(rule.read(*given))
    read, used = {rule.ours for rule in rules}, {name for rule in rules for name in rule.theirs}
    return Read(
        tuple(path for path in variables if path not in read),
        tuple(name for name in weights if name not in used),
    )
