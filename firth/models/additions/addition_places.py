"""Places of a model, and the additions that it holds at them."""

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import keras

from firth.layers.elements.extensible_layer import Addition, Place, extensible_layers
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.method import Method


class TuningError(ValueError):
    """A model that a method cannot prepare."""


def places_of(model: BackboneWithHeads) -> list[Place]:
    """Returns the places of a model's backbone, in the order in which they were made."""
    return [place for layer in extensible_layers(model.backbone) for place in layer.places()]


def path_below(place: Place) -> str:
    """Returns the path of a place below the backbone, such as `encoder/block_0/attention`."""
    return place.path.removeprefix("backbone/")


def require_fit(model: BackboneWithHeads, method: Method) -> None:
    """Raises `TuningError` unless a method can adapt the backbone of a model."""
    if problems := list(method.conflicts(model.backbone.config)):
        raise TuningError("\n".join(problems))


def keywords_of(model: BackboneWithHeads, method: Method) -> dict[str, Any]:
    """Returns the seed, the dtype and the name that an addition is made with."""
    return {"seed": model.seed_generator, "dtype": model.dtype_policy, "name": method.kind}


def add_at_places(
    model: BackboneWithHeads, kind: str, places: Iterable[Place], make: Callable[[Place], Addition]
) -> None:
    """Adds something at places of a model's backbone.

    Weights of an addition have a path such as `added/encoder/block_0/attention/query/lora/down`.
    """
    for place in places:
        addition = make(place)
        with contextlib.ExitStack() as scopes:
            for part in (model.name, model.added.name, *path_below(place).split("/")):
                scopes.enter_context(keras.name_scope(part))
            addition.build((None, None, place.inputs))
        try:
            place.layer.extend(place.name, addition)
        except ValueError as error:
            raise TuningError(f"method.kind: {kind}: {error}") from None
        model.added.held.append(addition)
