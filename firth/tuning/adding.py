"""Additions to a model: where they are made, how they are held, and how they become a part of its weights."""

import contextlib
import fnmatch
from collections.abc import Callable, Iterable

import keras

from firth.layers.elements.extensible import Addition, Place, extensible_layers
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.base.errors import first_of, suggest
from firth.tuning.groups import TuningError, freeze


def places_of(model: BackboneWithHeads) -> list[Place]:
    """Returns the places of a model's backbone, in the order in which they were made.

    Args:
        model: Model, built.
    """
    return [place for layer in extensible_layers(model.backbone) for place in layer.places()]


def projections_of(model: BackboneWithHeads, patterns: Iterable[str], key: str) -> list[Place]:
    """Returns the projections of a model's backbone that patterns name.

    Args:
        model: Model, built.
        patterns: Patterns with `*`, of whole paths or of their ends after a slash; see `LoRA`.
        key: Key of the patterns in a recipe, for errors.

    Raises:
        TuningError: for a pattern that names none, with the nearest names.
    """
    places = [place for place in places_of(model) if place.columns]
    patterns = list(patterns)
    for pattern in patterns:
        if not any(_names(pattern, place) for place in places):
            raise TuningError(
                f"{key}: {pattern} names none of the {len(places)} projections of this model; "
                f"{_nearest(pattern, places)}"
            )
    return [place for place in places if any(_names(pattern, place) for pattern in patterns)]


def check_rank(rank: int, places: list[Place]) -> None:
    """Passes if matrices of a rank are not larger than the projections that they are added to.

    Args:
        rank: Rank of the matrices.
        places: Places of the projections.

    Raises:
        TuningError: for a rank greater than a projection's smaller side.
    """
    for place in places:
        if rank > min(place.inputs, place.outputs):
            raise TuningError(
                f"method.rank: {rank}, but {place.path} has {place.inputs} inputs and {place.outputs} outputs"
            )


def _path(place: Place) -> str:
    """Its path below the backbone."""
    return place.path.removeprefix("backbone/")


def _names(pattern: str, place: Place) -> bool:
    return fnmatch.fnmatchcase(_path(place), pattern) or fnmatch.fnmatchcase(_path(place), f"*/{pattern}")


def _nearest(pattern: str, places: list[Place]) -> str:
    """Returns the names that a pattern may mean: ends of paths of as many parts as it has, or whole paths."""
    parts = pattern.count("/") + 1
    ends = dict.fromkeys("/".join(_path(place).split("/")[-parts:]) for place in places)
    said = suggest(pattern.replace("*", ""), ends)
    return said if said.startswith("did") else f"one of: {first_of(list(ends), most=12)}"


def add(
    model: BackboneWithHeads, kind: str, places: Iterable[Place], make: Callable[[Place], Addition]
) -> None:
    """Freezes a model's backbone and adds something at places of it.

    Weights of an addition have a path such as `added/encoder/block_0/attention/query/lora/down`.

    Args:
        model: Model, built.
        kind: Kind of the method, for errors.
        places: Places of the backbone.
        make: Function from a place to its addition, not built.

    Raises:
        TuningError: if something is added at such a place already.
    """
    freeze([model.backbone.trainable_weights])
    for place in places:
        addition = make(place)
        with contextlib.ExitStack() as scopes:
            for part in (model.name, model.added.name, *_path(place).split("/")):
                scopes.enter_context(keras.name_scope(part))
            addition.build((None, None, place.inputs))
        try:
            place.layer.extend(place.name, addition)
        except ValueError as error:
            raise TuningError(f"method.kind: {kind}: {error}") from None
        model.added.held.append(addition)


def merge(model: BackboneWithHeads) -> None:
    """Makes all additions of a model a part of the projections that they are added to.

    Args:
        model: Model with additions of a method that merges; afterwards it has none.
    """
    for place in places_of(model):
        addition = place.layer.addition(place.name)
        if addition is not None and place.columns is not None:
            kernel, bias = place.columns.read()
            place.columns.write(*addition.merged(kernel, bias))
            place.layer.extend(place.name, None)
    model.added.held.clear()
