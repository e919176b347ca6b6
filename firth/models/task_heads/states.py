"""The states that heads of tasks read."""

from typing import Any

from firth.layers.elements.gather_rows import gather_tokens
from firth.layers.elements.types import Tensor
from firth.models.heads import Features


def states_of(backbone: Any, features: Features, encoder_alone: bool, training: bool | None = None) -> Tensor:
    """Returns the last states of a backbone, float [batch, length, width]."""
    read = backbone.encoder_states if encoder_alone else backbone
    return read(features, training=training)


def states_at(
    backbone: Any, features: Features, places: Tensor, encoder_alone: bool, training: bool | None = None
) -> Tensor:
    """Returns the last states of a backbone at some places of each row, float [batch, places, width].

    Args:
        places: int32 [batch, places], places of tokens.
    """
    if encoder_alone:
        return gather_tokens(states_of(backbone, features, encoder_alone, training), places)
    states: Tensor = backbone.states_at(features, places, training)
    return states
