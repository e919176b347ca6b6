"""LoRA: products of two small matrices added to projections."""

import math
from typing import Any

from keras import ops

from firth.layers.elements.dropout import Dropout
from firth.layers.elements.extensible_layer import Addition, Base
from firth.layers.elements.seeds import seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import LoRA
from firth.tuning.additions import add_low_ranks, low_rank_targets
from firth.tuning.rate_multipliers import Multipliers


class LowRankAddition(Addition):
    """Adds a product of two small matrices to a projection: `W x + scale B A x`.

    Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models", section 4.1. A starts uniform within
    one over the root of the inputs, as in the authors' code, and B at zero.

    Example:

    >>> import numpy as np
    >>> addition, states = LowRankAddition(inputs=4, outputs=4, rank=2, scale=1.0), np.ones((1, 3, 4))
    >>> bool(np.all(addition(states, base=lambda read: read) == states))
    True
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        rank: int,
        scale: float,
        dropout: float = 0.0,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)
        self.dropout_layer = Dropout(dropout, seed=self._generator, dtype=self.dtype_policy, name="dropout")

    def build(self, states_shape: Shape) -> None:
        """Creates `down` [inputs, rank], which is A, and `up` [rank, outputs], which is B."""
        start = uniform(self.inputs**-0.5, self._generator)
        self.down = self.add_weight(name="down", shape=(self.inputs, self.rank), initializer=start)
        self.up = self.add_weight(name="up", shape=(self.rank, self.outputs), initializer="zeros")
        self.dropout_layer.build(states_shape)

    def call(self, states: Tensor, base: Base) -> Tensor:
        """Returns a float tensor [batch, length, outputs].

        Args:
            states: Float tensor [batch, length, inputs].
        """
        tokens = ops.reshape(self.dropout_layer(states), (-1, self.inputs))
        small = ops.matmul(tokens, ops.cast(self.down, tokens.dtype))
        added = ops.matmul(small, ops.cast(self._scaled_up(), tokens.dtype))
        return base(states) + ops.reshape(added, (*ops.shape(states)[:-1], self.outputs))

    def _scaled_up(self) -> Tensor:
        return ops.multiply(self.up, self.scale)

    def merged(self, kernel: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Returns the kernel with the product added to it, and the bias.

        Args:
            kernel: Float tensor [inputs, outputs].
        """
        return kernel + ops.matmul(self.down, self._scaled_up()), bias


def prepare_lora(model: BackboneWithHeads, method: LoRA, steps_per_epoch: int) -> Multipliers:
    """Adds two small matrices to each projection that is a target, and freezes the backbone.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    divisor = math.sqrt(method.rank) if method.rank_stabilised else method.rank
    places = low_rank_targets(model, method.targets, method.rank, dropout=method.dropout)
    scale = method.alpha / divisor
    add_low_ranks(model, method, places, LowRankAddition, method.rank, scale, method.dropout)
    return {}
