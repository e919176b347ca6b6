"""Places of a model, and the additions that it holds at them."""

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import keras

from firth.layers.elements.extensible_layer import Addition, Additions, Place, extensible_layers
from firth.recipes.tuning.method import Method

if TYPE_CHECKING:
    # A backbone, which is a part of it, adds LoRA by itself.
    from firth.models.backbone_with_heads import BackboneWithHeads


class TuningError(ValueError):
    """A model that a method cannot prepare."""


def places_of(model: "BackboneWithHeads") -> list[Place]:
    """Returns the places of a model's backbone, in the order in which they were made."""
    return places_below(model.backbone)


def places_below(backbone: Any) -> list[Place]:
    """Returns the places of a backbone, in the order in which they were made, without those of additions."""
    added = {id(layer) for layer in extensible_layers(backbone.added)}
    layers = (layer for layer in extensible_layers(backbone) if id(layer) not in added)
    return [place for layer in layers for place in layer.places()]


def path_below(place: Place) -> str:
    """Returns the path of a place below the backbone, such as `encoder/block_0/attention`."""
    return place.path.removeprefix("backbone/")


def require_fit(model: "BackboneWithHeads", method: Method) -> None:
    """Raises `TuningError` unless a method can adapt the backbone of a model."""
    if problems := list(method.conflicts(model.backbone.config)):
        raise TuningError("\n".join(problems))


def keywords_of(model: "BackboneWithHeads", method: Method) -> dict[str, Any]:
    """Returns the seed, the dtype and the name that an addition is made with."""
    return {"seed": model.seed_generator, "dtype": model.dtype_policy, "name": method.kind}


def add_at_places(
    model: "BackboneWithHeads", kind: str, places: Iterable[Place], make: Callable[[Place], Addition]
) -> None:
    """Adds something at places of a model's backbone.

    Raises:
        TuningError: for a place with an addition.
    """
    try:
        add_below(model.backbone, model.added, model.name, places, make)
    except ValueError as error:
        raise TuningError(f"method.kind: {kind}: {error}") from None


def add_below(
    backbone: Any, added: Additions, root: str, places: Iterable[Place], make: Callable[[Place], Addition]
) -> None:
    """Adds something at places of a backbone.

    Weights of an addition have a path such as `model/added/encoder/block_0/attention/query/lora/down`.

    Args:
        backbone: Backbone that the places are of.
        added: Layer that holds the additions.
        root: First part of the paths of their weights.

    Raises:
        ValueError: for a place with an addition.
    """
    for place in places:
        addition = make(place)
        with contextlib.ExitStack() as scopes:
            for part in (*root.split("/"), added.name, *path_below(place).split("/")):
                scopes.enter_context(keras.name_scope(part))
            addition.build((None, None, place.inputs))
        place.layer.extend(place.name, addition)
        added.held.append(addition)
