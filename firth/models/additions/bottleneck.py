"""Bottleneck adapters: small layers after the sublayers of each block."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.activations import get_activation
from firth.layers.elements.extensible_layer import Addition, Base, Place
from firth.layers.elements.seeds import normal, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.addition_places import TuningError, add_at_places, keywords_of, places_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import BottleneckMethod

_STDDEV = 0.02


class Bottleneck(Addition):
    """Adds `f(z D + d) U + u` to the output `y` of a sublayer, before the residual is added to it.

    z is y (Houlsby et al. 2019, "Parameter-Efficient Transfer Learning for NLP", section 2.1), or with
    `reads_sum` the sum of y with the residual, and the norm of it where one follows (Pfeiffer et al. 2021,
    "AdapterFusion: Non-Destructive Task Composition for Transfer Learning", appendix A). U and u start at
    zero, so that the model starts as its base; the papers start near it.

    Example:

    >>> import numpy as np
    >>> addition, states = Bottleneck(width=4, bottleneck=2), np.ones((1, 3, 4))
    >>> bool(np.all(addition(states, base=lambda read: 2 * read, after=lambda update: update) == 2))
    True
    """

    def __init__(
        self,
        width: int,
        bottleneck: int,
        activation: str = "gelu",
        reads_sum: bool = False,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._activate = get_activation(activation)
        self._generator = seed_generator(seed)

    def build(self, states_shape: Shape) -> None:
        """Creates D, `down` [width, bottleneck], and U, `up` [bottleneck, width], each with its `_bias`."""
        start = normal(_STDDEV, self._generator)
        self.down = self.add_weight(name="down", shape=(self.width, self.bottleneck), initializer=start)
        self.down_bias = self.add_weight(name="down_bias", shape=(self.bottleneck,), initializer="zeros")
        self.up = self.add_weight(name="up", shape=(self.bottleneck, self.width), initializer="zeros")
        self.up_bias = self.add_weight(name="up_bias", shape=(self.width,), initializer="zeros")

    def call(self, states: Tensor, base: Base, after: Base) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            states: Float tensor [batch, length, width], the input of the sublayer.
        """
        update = base(states)
        read = after(update) if self.reads_sum else update
        # With all tokens on one axis a gradient of a kernel is one matmul, not a sum of one per example.
        tokens = ops.reshape(read, (-1, self.width))
        within = self._activate(ops.matmul(tokens, ops.cast(self.down, tokens.dtype)) + self.down_bias)
        added = ops.matmul(within, ops.cast(self.up, within.dtype)) + self.up_bias
        return update + ops.cast(ops.reshape(added, ops.shape(update)), update.dtype)


def add_bottlenecks(model: BackboneWithHeads, method: BottleneckMethod) -> None:
    """Adds an adapter after the sublayers that a method names, in each block.

    Raises:
        TuningError: for a backbone without such sublayers, as one of recurrent layers.
    """

    def make(place: Place) -> Bottleneck:
        return Bottleneck(
            place.inputs,
            method.width_in(place.inputs),
            method.activation,
            reads_sum=method.reads_sum,
            **keywords_of(model, method),
        )

    add_at_places(model, method.kind, sublayers_of(model, method), make)


def sublayers_of(model: BackboneWithHeads, method: BottleneckMethod) -> list[Place]:
    """Returns the places of the sublayers that a method adds adapters after."""
    found = [place for place in places_of(model) if place.name in method.sublayers]
    if not found:
        backbone = type(model.backbone).__name__
        raise TuningError(
            f"method.kind: {method.kind}: adapters follow the sublayers {', '.join(method.sublayers)} "
            f"of transformer blocks, and {backbone} has no such blocks"
        )
    return found


def norms_of(model: BackboneWithHeads, method: BottleneckMethod) -> list[keras.layers.Layer]:
    """Returns the norms of the sublayers that a method adds adapters after."""
    return [place.norm for place in sublayers_of(model, method) if place.norm is not None]
