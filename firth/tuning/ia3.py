"""(IA)3: activations multiplied by vectors that are learned."""

from typing import Any

from keras import ops

from firth.layers.elements.extensible_layer import Addition, Base, Place
from firth.layers.elements.types import Shape, Tensor
from firth.models.additions.low_rank import projections_of
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import IA3
from firth.tuning.additions import freeze_and_add
from firth.tuning.rate_multipliers import Multipliers


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
