"""A preset of KerasHub becomes a bundle."""

import dataclasses
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from firth.interop.bundles import Imported, Incoming, beginning_with
from firth.interop.errors import InteropError
from firth.interop.formats import Read
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.hugging_face.tensors import all_finite
from firth.interop.keras_hub.preset import Preset
from firth.interop.keras_hub.tokenizers import read_tokenizer, reading_notes


def import_model(
    path: str | os.PathLike[str], folder: str | os.PathLike[str], name: str, begin: str | None = None
) -> Read:
    """Writes a preset as a model bundle, which `firth.models.load_model` reads.

    Args:
        path: Path of the folder that KerasHub's `save_to_preset` wrote.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.
        begin: Value of `objective.begin`; that of the preset's preprocessor if it is not given.

    Returns:
        Which weights the preset lacks, so that they are fresh, which of its weights have no place, and what
        of a text KerasHub's tokenizer reads otherwise than ours.

    Raises:
        InteropError: for what cannot be read, or cannot be expressed here, by file and key.
        FileExistsError: if there is something in the bundle's place.
    """
    preset = Preset(path)
    family = preset.family
    tokenizer = read_tokenizer(preset)
    imported = Imported(
        path=preset.path,
        origin=f"{family.backbone} of KerasHub",
        model=preset.model(),
        objective=beginning_with(preset.objective, begin, tokenizer, preset.path),
        vocabulary_size=preset.vocabulary_size,
        tokenizer=tokenizer,
    )
    weights = preset.weights()

    def bring(specs: Collection[str], recipe: object) -> Incoming:
        rules = family.rules(imported.model, imported.objective)
        if preset.has_task_head and family.task_head is not None:
            rules += family.task_head(imported.model, imported.objective)
        incoming = incoming_weights(specs, rules, weights)
        surplus = (*incoming.read.surplus, *preset.surplus)
        # It has the head, which is not ours.
        reason = f"KerasHub computes the head of {preset.surplus[0]} otherwise" if preset.surplus else ""
        notes = reading_notes(preset)
        read = dataclasses.replace(incoming.read, surplus=surplus, notes=notes, reason=reason)
        return dataclasses.replace(incoming, read=read)

    return imported.write(name, folder, bring)


def incoming_weights(paths: Collection[str], rules: Sequence[Rule], weights: Mapping[str, Array]) -> Incoming:
    """Returns our weights, made of those of KerasHub's model."""
    read, used = {rule.ours for rule in rules}, {name for rule in rules for name in rule.theirs}
    fresh = tuple(path for path in paths if path not in read)
    surplus = tuple(name for name in weights if name not in used)
    return Incoming(Read(fresh, surplus), _converted(rules, weights))


def _converted(rules: Iterable[Rule], weights: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    for rule in rules:
        given = [weights[name] for name in rule.theirs]
        for name, each in zip(rule.theirs, given, strict=True):
            if not all_finite(each):
                raise InteropError(f"{name} holds what is not a finite number")
        yield rule.ours, rule.read(*given)
