"""A bundle becomes a preset of KerasHub."""

import json
import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import keras
import keras_hub
import numpy as np

from firth import storage
from firth.interop.bundles import about_untrained, open_bundle, untrained_heads
from firth.interop.errors import InteropError
from firth.interop.formats import Written
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.keras_hub.families import FAMILIES
from firth.interop.keras_hub.family import PresetFamily, plain_weights
from firth.interop.keras_hub.preset import (
    CONFIG_FILE,
    TASK_FILE,
    TASK_WEIGHTS_FILE,
    arrays_of,
    by_name,
    make_backbone,
)
from firth.interop.keras_hub.tokenizers import tokenizer_to_write
from firth.interop.keras_hub.tokenizers.tokenizer_classes import CLASSES
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import TOKENIZER_FOLDER, weights_by_path
from firth.recipes.run.run_recipe import RunRecipe
from firth.tokenizers import load_tokenizer

_STDDEV = 0.02
# What KerasHub leaves out of its files.
_STATES = ("compile_config", "build_config")


def export_model(
    bundle: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    tokenizer: str | None = None,
    heads: str | None = None,
) -> Written:
    """Writes a bundle's model as a preset, which KerasHub's `from_preset` loads.

    The preset holds the backbone, and the tokenizer where KerasHub's class gives the same ids. A head goes
    along where KerasHub's computes the same, which is that of RoBERTa's masked LM; a task with another head
    makes it fresh. The output tables of causal and sequence-to-sequence models are a part of the backbone.

    Args:
        bundle: Path of the bundle.
        folder: Place of the preset, where nothing is.
        tokenizer: `near` to write a tokenizer that reads some texts otherwise; None to leave it out.
        heads: `untrained` to write heads that nobody has trained; None to leave them out.

    Returns:
        The files that were written, what of the model they lack, and which texts KerasHub reads otherwise.

    Raises:
        InteropError: for what KerasHub cannot express, with the key.
        FileExistsError: if there is something in the preset's place.
    """
    model, recipe = open_bundle(bundle)
    ours = load_tokenizer(os.path.join(os.fspath(bundle), TOKENIZER_FOLDER))
    family = family_of(recipe)
    theirs, about = tokenizer_to_write(ours, family.tokenizer, tokenizer)
    untrained = untrained_heads(bundle, heads)
    backbone, head, notes = made_of(model, recipe, family, untrained)
    with storage.whole_folder(folder) as unfinished:
        if head is None:
            backbone.save_to_preset(unfinished)
        elif theirs is None:
            _save_without_preprocessor(head, unfinished)
        else:
            head.preprocessor = head.preprocessor_cls(theirs, sequence_length=recipe.sequences.length)
            head.save_to_preset(unfinished)
        if head is None and theirs is not None:
            theirs.save_to_preset(unfinished)
        _state_config(os.path.join(unfinished, CONFIG_FILE), family.write_config(recipe.model))
        return Written(tuple(storage.files_below(unfinished)), (*about, *notes))


def family_of(recipe: RunRecipe) -> PresetFamily:
    """Returns the family of KerasHub that says a recipe's model.

    Of several, it is that of the recipe's goal and tokenizer.
    """
    of_kind = [each for each in FAMILIES.values() if each.always["kind"] == recipe.model.kind]
    if not of_kind:
        kinds = ", ".join(dict.fromkeys(each.always["kind"] for each in FAMILIES.values()))
        raise InteropError(f"model.kind: {recipe.model.kind!r} cannot be expressed by KerasHub; {kinds} can")
    in_the_way = {each.backbone: list(each.differences(recipe.model)) for each in of_kind}
    fitting = [each for each in of_kind if not in_the_way[each.backbone]]
    if not fitting:
        raise InteropError(min(in_the_way.values(), key=len)[0])

    def preference(family: PresetFamily) -> tuple[bool, bool]:
        tokenizer = CLASSES.get(family.tokenizer)
        is_of_goal = isinstance(recipe.goal, type(family.objective))
        return is_of_goal, tokenizer is not None and tokenizer.ours.kind == recipe.tokenizer.kind

    return max(fitting, key=preference)


def made_of(
    model: BackboneWithHeads, recipe: RunRecipe, family: PresetFamily, untrained: Collection[str] = ()
) -> tuple[keras.Model, keras.Model | None, tuple[str, ...]]:
    """Returns KerasHub's backbone with a model's weights, its task if the head goes along, and notes."""
    size = {family.vocabulary_key: recipe.tokenizer.vocabulary_size}
    backbone = make_backbone(family, {**family.write_config(recipe.model), **size})
    own = {path: each for path, each in arrays_of(weights_by_path(model)).items() if path not in untrained}
    weights = plain_weights(own, recipe.model, family.folds_segments)
    rules = family.rules(recipe.model, recipe.goal)
    fresh = _assign(by_name(backbone.weights), rules, weights)
    _start(fresh, recipe.seed)
    head = [] if family.task_head is None else list(family.task_head(recipe.model, recipe.goal))
    task = None
    if head and {rule.ours for rule in head} <= weights.keys():
        task = getattr(keras_hub.models, str(family.task))(backbone=backbone, preprocessor=None)
        _assign(by_name(task.weights), head, weights)
        rules = [*rules, *head]
    notes = _notes(weights.keys() - {rule.ours for rule in rules}, fresh)
    return backbone, task, (*notes, *about_untrained(untrained))


def _notes(left_out: Collection[str], fresh: Collection[str]) -> Iterator[str]:
    if left_out:
        parts = sorted({"/".join(path.split("/")[:2]) for path in left_out})
        yield f"left out, since KerasHub has no place for them: {', '.join(parts)}"
    if fresh:
        names = ", ".join(sorted(fresh))
        yield f"made from the recipe's seed, since the model has none: {names}"


def _assign(
    variables: Mapping[str, keras.Variable], rules: list[Rule], weights: Mapping[str, Array]
) -> dict[str, keras.Variable]:
    """Assigns what there is of ours; returns the variables that have no weights."""
    left = dict(variables)
    for rule in rules:
        if rule.ours in weights:
            for name, tensor in zip(rule.theirs, rule.write(weights[rule.ours]), strict=True):
                left.pop(name).assign(tensor)
    return left


def _start(variables: Mapping[str, keras.Variable], seed: int) -> None:
    """Makes a layer that a model of ours lacks, such as BERT's pooler: the same one each time."""
    generator = np.random.default_rng(seed)
    for name, variable in variables.items():
        is_bias = name.endswith("bias")
        variable.assign(generator.normal(scale=0.0 if is_bias else _STDDEV, size=variable.shape))


def _save_without_preprocessor(task: Any, folder: str) -> None:
    """Writes a task that has none, which KerasHub's `save_to_preset` cannot; `preprocessor=None` loads it."""
    task.backbone.save_to_preset(folder)
    task.save_task_weights(os.path.join(folder, TASK_WEIGHTS_FILE))
    described = keras.saving.serialize_keras_object(task)
    storage.write_json(os.path.join(folder, TASK_FILE), _without_states(described), indent=4)


def _without_states(described: Any) -> Any:
    if not isinstance(described, dict):
        return described
    return {key: _without_states(each) for key, each in described.items() if key not in _STATES}


def _state_config(path: str, config: Mapping[str, Any]) -> None:
    """States keys that KerasHub's classes take and do not write, such as Llama's `tie_word_embeddings`."""
    content = json.loads(storage.read_text(path))
    stated = {key: value for key, value in config.items() if key not in content["config"]}
    if stated:
        content["config"] |= stated
        storage.remove(path)
        storage.write_json(path, content, indent=4)
