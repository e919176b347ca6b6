"""Additions to projections, which merge: LoRA, LoHa and (IA)3."""

import math
from typing import Any

import keras
from keras import ops

from firth.layers.elements.extensible_layer import Addition, Base, Place
from firth.layers.elements.seeds import uniform
from firth.layers.elements.types import Shape, Tensor
from firth.models.additions.low_rank import (
    LowRankAddition,
    ProjectionAddition,
    low_rank_targets,
    projections_of,
)
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import IA3, LoHa, LoRA
from firth.tuning.additions import add_low_ranks, freeze_and_add
from firth.tuning.rate_multipliers import Multipliers


def prepare_lora(model: BackboneWithHeads, method: LoRA, steps_per_epoch: int) -> Multipliers:
    """Adds two small matrices to each projection that is a target, and freezes the backbone.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    divisor = math.sqrt(method.rank) if method.rank_stabilised else method.rank
    places = low_rank_targets(model.backbone, method.targets, method.rank, dropout=method.dropout)
    scale = method.alpha / divisor
    add_low_ranks(model, method, places, LowRankAddition, method.rank, scale, method.dropout)
    return {}


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


class Rescaling(Addition):
    """Multiplies the inputs or the outputs of a projection by a vector that starts at one.

    Liu et al. 2022, "Few-Shot Parameter-Efficient Fine-Tuning is Better and Cheaper than In-Context
    Learning", section 3.3.

    Example:

    >>> import numpy as np
    >>> addition, states = Rescaling(width=4), np.ones((1, 3, 4))
    >>> bool(np.all(addition(states, base=lambda read: 2 * read) == 2))
    True
    """

    def __init__(self, width: int, of_inputs: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def build(self, states_shape: Shape) -> None:
        """Creates `scale` [width]."""
        self.scale = self.add_weight(name="scale", shape=(self.width,), initializer="ones")

    def call(self, states: Tensor, base: Base) -> Tensor:
        """Returns a float tensor [batch, length, outputs].

        Args:
            states: Float tensor [batch, length, inputs].
        """
        scale = ops.cast(self.scale, states.dtype)
        return base(states * scale) if self.of_inputs else base(states) * scale

    def merged(self, kernel: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Returns the kernel with its rows multiplied and the bias as it is, or columns and bias multiplied.

        Args:
            kernel: Float tensor [inputs, outputs].
        """
        if self.of_inputs:
            return kernel * ops.expand_dims(self.scale, 1), bias
        return kernel * self.scale, None if bias is None else bias * self.scale


def prepare_ia3(model: BackboneWithHeads, method: IA3, steps_per_epoch: int) -> Multipliers:
    """Adds a vector to each projection that is a target, and freezes the backbone.

    Raises:
        TuningError: for a target that no projection has, and a projection that is a target of both kinds.
    """
    of_outputs = projections_of(model.backbone, method.targets, "method.targets")
    of_inputs = projections_of(model.backbone, method.input_targets, "method.input_targets")

    def make(place: Place, read: bool) -> Rescaling:
        width = place.inputs if read else place.outputs
        return Rescaling(width, read, dtype=model.dtype_policy, name=method.kind)

    freeze_and_add(model, method.kind, of_outputs, lambda place: make(place, False))
    freeze_and_add(model, method.kind, of_inputs, lambda place: make(place, True))
    return {}
