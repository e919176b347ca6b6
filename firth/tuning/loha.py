"""LoHa: Hadamard products of two low ranks added to projections."""

import keras
from keras import ops

from firth.layers.elements.seeds import uniform
from firth.layers.elements.types import Shape, Tensor
from firth.models.additions.low_rank import ProjectionAddition, low_rank_targets
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import LoHa
from firth.tuning.additions import add_low_ranks
from firth.tuning.rate_multipliers import Multipliers


class HadamardAddition(ProjectionAddition):
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

    def _difference(self) -> Tensor:
        first = ops.matmul(self.first_down, self.first_up)
        second = ops.matmul(self.second_down, self.second_up)
        return ops.multiply(first, second) * self.scale


def prepare_loha(model: BackboneWithHeads, method: LoHa, steps_per_epoch: int) -> Multipliers:
    """Adds a Hadamard product to each projection that is a target, and freezes the backbone.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    places = low_rank_targets(model.backbone, method.targets, method.rank)
    add_low_ranks(model, method, places, HadamardAddition, method.rank, method.alpha / method.rank)
    return {}
