"""Additions to a model: their targets, adding, merging, and the methods of those that do not merge."""

from collections.abc import Callable, Iterable
from typing import Any

from firth.layers.elements.extensible_layer import Addition, Place
from firth.models.additions.addition_kinds import extend_model
from firth.models.additions.addition_places import (
    TuningError,
    add_at_places,
    keywords_of,
    places_of,
)
from firth.models.additions.bottleneck import norms_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import BottleneckMethod
from firth.recipes.tuning.prompts import PromptMethod
from firth.tuning.layers import freeze_base
from firth.tuning.rate_multipliers import Multipliers


def prepare_bottleneck(
    model: BackboneWithHeads, method: BottleneckMethod, steps_per_epoch: int
) -> Multipliers:
    """Trains the adapters, the norms if the method asks for them, and the heads of the task.

    Raises:
        TuningError: for a backbone without blocks.
    """
    extend_model(model, method)
    freeze_base(model)
    for norm in norms_of(model, method) if method.norms else ():
        for weight in norm.weights:
            weight.trainable = True
    return {}


def prepare_prompts(model: BackboneWithHeads, method: PromptMethod, steps_per_epoch: int) -> Multipliers:
    """Trains the prefixes or prompts, and the heads of the task; the base is frozen.

    Raises:
        TuningError: for a backbone that takes no virtual tokens.
    """
    extend_model(model, method)
    freeze_base(model)
    return {}


def merge(model: BackboneWithHeads) -> None:
    """Merges all additions of a model into the projections that they are added to.

    Args:
        model: Model with additions of a method that merges; afterwards it has none.

    Raises:
        TuningError: for additions of a method that does not merge.
    """
    for place in places_of(model):
        addition = place.layer.addition(place.name)
        if addition is not None and place.columns is None:
            raise TuningError(
                f"{place.path}: {addition.name} does not belong to a projection, and cannot be merged"
            )
        if addition is not None and place.columns is not None:
            kernel, bias = place.columns.read()
            place.columns.write(*addition.merged(kernel, bias))
            place.layer.extend(place.name, None)
    for added in (model.added, model.backbone.added):
        added.held.clear()
        added.observers.clear()


def freeze_and_add(
    model: BackboneWithHeads, kind: str, places: Iterable[Place], make: Callable[[Place], Addition]
) -> None:
    """Freezes the base of a model and adds something at its places.

    Raises:
        TuningError: as `add_at_places` does.
    """
    freeze_base(model)
    add_at_places(model, kind, places, make)


def add_low_ranks(
    model: BackboneWithHeads,
    method: Any,
    places: Iterable[Place],
    addition: Callable[..., Addition],
    *arguments: float,
) -> None:
    """Adds matrices of a low rank to projections, and freezes the backbone."""

    def make(place: Place) -> Addition:
        return addition(place.inputs, place.outputs, *arguments, **keywords_of(model, method))

    freeze_and_add(model, method.kind, places, make)
