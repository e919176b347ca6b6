"""Additions after training."""

from firth.models.additions.addition_kinds import ADDITIONS
from firth.models.additions.addition_places import places_of
from firth.models.backbone_with_heads import BackboneWithHeads
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
