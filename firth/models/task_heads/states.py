"""The states that heads of tasks read."""

from typing import Any

from firth.layers.elements.types import Tensor
from firth.models.heads import Features


def states_of(backbone: Any, features: Features, encoder_alone: bool, training: bool | None = None) -> Tensor:
    """Returns the last states of a backbone, float [batch, length, width].

    Args:
        backbone: Backbone that reads the task's form.
        features: Task's features, batched.
        encoder_alone: True for those of the encoder of a backbone that has a decoder too.
        training: Whether dropout acts; for None see `firth.layers.Dropout`.
    """
    read = backbone.encode if encoder_alone else backbone
    return read(features, training=training)
