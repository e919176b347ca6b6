"""LoHa: Hadamard products of two low ranks added to projections."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.extensible_layer import Addition, Base
from firth.layers.elements.seeds import seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.low_rank import low_rank_targets
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import LoHa
from firth.tuning.additions import add_low_ranks
from firth.tuning.rate_multipliers import Multipliers


class HadamardAddition(Addition):
    """Adds a Hadamard product to a projection: `W x + scale ((B1 A1) * (B2 A2)) x`.

    Its rank is up to the square of `rank` (Hyeon-Woo et al. 2022, "FedPara: Low-Rank Hadamard Product for
    Communication-Efficient Federated Learning", section 2.2). A2 starts at zero, the others uniform within
    one over the root of the inputs, as in peft.

    Example:

    >>> import numpy as np
    >>> addition, states = HadamardAddition(inputs=4, outputs=4, rank=2, scale=1.0), np.ones((1, 3, 4))
    >>> bool(np.all(addition(states, base=lambda read: read) == states))
    True
    """

    def __init__(
        self, inputs: int, outputs: int, rank: int, scale: float, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)

    def build(self, states_shape: Shape) -> None:
        """Creates A1 and A2, `..._down` [inputs, rank], and B1 and B2, `..._up` [rank, outputs]."""
        first, second = (self.inputs, self.rank), (self.rank, self.outputs)
        self.first_down = self._drawn("first_down", first)
        self.first_up = self._drawn("first_up", second)
        self.second_down = self.add_weight(name="second_down", shape=first, initializer="zeros")
        self.second_up = self._drawn("second_up", second)

    def _drawn(self, name: str, shape: tuple[int, int]) -> keras.Variable:
        start = uniform(shape[0] ** -0.5, self._generator)
        return self.add_weight(name=name, shape=shape, initializer=start)

    def call(self, states: Tensor, base: Base) -> Tensor:
        """Returns a float tensor [batch, length, outputs].

        Args:
            states: Float tensor [batch, length, inputs].
        """
        tokens = ops.reshape(states, (-1, self.inputs))
        added = ops.matmul(tokens, ops.cast(self._difference(), tokens.dtype))
        return base(states) + ops.reshape(added, (*ops.shape(states)[:-1], self.outputs))

    def _difference(self) -> Tensor:
        first = ops.matmul(self.first_down, self.first_up)
        second = ops.matmul(self.second_down, self.second_up)
        return ops.multiply(first, second) * self.scale

    def merged(self, kernel: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Returns the kernel with the product added to it, and the bias.

        Args:
            kernel: Float tensor [inputs, outputs].
        """
        return kernel + self._difference(), bias


def prepare_loha(model: BackboneWithHeads, method: LoHa, steps_per_epoch: int) -> Multipliers:
    """Adds a Hadamard product to each projection that is a target, and freezes the backbone.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    places = low_rank_targets(model.backbone, method.targets, method.rank)
    add_low_ranks(model, method, places, HadamardAddition, method.rank, method.alpha / method.rank)
    return {}
