"""Additions after training: those that are kept, and the base that several models with additions share."""

import keras

from firth.models.additions.addition_kinds import ADDITIONS
from firth.models.additions.addition_places import places_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.tuning.method import Method


def keep(model: BackboneWithHeads, method: Method) -> None:
    """Drops what a method has in training alone, such as a network, and keeps what that has made."""
    if method.kept == method:
        return
    places = places_of(model)
    trained = {place.path: place.layer.addition(place.name) for place in places}
    for place in places:
        place.layer.extend(place.name, None)
    model.added.held.clear()
    ADDITIONS[method.kind](model, method.kept)
    for place in places:
        if (addition := place.layer.addition(place.name)) is not None:
            addition.take(trained[place.path])


def share_base(model: BackboneWithHeads, held: dict[str, keras.Variable]) -> None:
    """Gives a model's weights of its base the memory of those of another model on the same base.

    Example: see `tests/serving/adapter_export_test.py`.
    """
    for path, each in weights_by_path(model).items():
        if each.trainable or path.startswith(f"{model.added.name}/"):
            continue
        # Keras has no public way to say that two of its variables are one.
        each._value = held.setdefault(path, each).value
