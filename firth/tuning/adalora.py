"""AdaLoRA: products of small matrices, whose rank is given to the projections where it matters."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.seeds import drawn
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adalora import AdaLoRA
from firth.tuning.adding import add_low_ranks, low_rank_targets
from firth.tuning.lora import LowRankAddition
from firth.tuning.multipliers import Multipliers
from firth.tuning.rank_allocation import RankAllocator

_STDDEV = 0.02
# What is added to the rank that the product is divided by, in peft.
_MORE = 1e-5


class Orthogonality(keras.regularizers.Regularizer):
    """How far vectors are from being orthogonal and of length one: the Frobenius norm of `M M^T - I`.

    Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning", equation 4;
    the norm is not squared, as in the authors' code and in peft.

    Example:

    >>> import numpy as np
    >>> float(Orthogonality(1.0, of_columns=False)(np.eye(2, 3, dtype="float32")))
    0.0
    """

    def __init__(self, factor: float, of_columns: bool) -> None:
        self.factor, self.of_columns = factor, of_columns

    def __call__(self, matrix: Tensor) -> Tensor:
        """Returns the penalty, float32 []."""
        matrix = ops.cast(matrix, "float32")
        across = ops.transpose(matrix)
        products = ops.matmul(across, matrix) if self.of_columns else ops.matmul(matrix, across)
        squares = ops.sum(ops.square(products - ops.eye(products.shape[0])))
        # The root has no gradient at zero, which exactly orthonormal vectors reach; that of the norm is zero.
        is_zero = ops.equal(squares, 0.0)
        return self.factor * ops.where(is_zero, 0.0, ops.sqrt(ops.where(is_zero, 1.0, squares)))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this regularizer."""
        return {"factor": self.factor, "of_columns": self.of_columns}


class SingularValueAddition(LowRankAddition):
    """Adds a product of the form of a singular value decomposition to a projection: `W x + scale P E Q x`.

    Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning", section 3.1.
    P and Q start from a normal of stddev 0.02 as in peft, and the diagonal E at zero.

    Example:

    >>> import numpy as np
    >>> addition, states = SingularValueAddition(inputs=4, outputs=4, rank=2, scale=1.0), np.ones((1, 3, 4))
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
        orthogonality: float = 0.0,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(inputs, outputs, rank, scale, dropout, seed, **kwargs)

    def build(self, states_shape: Shape) -> None:
        """Creates Q, `down` [inputs, rank]; E, `values` [rank]; and P, `up` [rank, outputs].

        Not trained, but kept by `RankAllocator`, are a `..._sensitivity` and an `..._uncertainty` of each,
        and `kept` [rank], 0 where an entry of E has been taken away for good and 1 elsewhere.
        """
        start = drawn(keras.initializers.RandomNormal(0.0, _STDDEV, seed=self._generator))
        shapes = {"down": (self.inputs, self.rank), "values": (self.rank,), "up": (self.rank, self.outputs)}
        columns = {"down": True, "up": False}
        for name, shape in shapes.items():
            made = self.add_weight(
                name=name,
                shape=shape,
                initializer=start if name in columns else "zeros",
                regularizer=Orthogonality(self.orthogonality, columns[name]) if name in columns else None,
                aggregation="only_first_replica",
            )
            setattr(self, name, made)
            for score in ("sensitivity", "uncertainty"):
                setattr(self, f"{name}_{score}", self._state(f"{name}_{score}", shape, "zeros"))
        self.kept = self._state("kept", (self.rank,), "ones")
        self.dropout_layer.build(states_shape)

    def _state(self, name: str, shape: tuple[int, ...], start: str) -> keras.Variable:
        kept = {"trainable": False, "dtype": "float32", "aggregation": "only_first_replica"}
        return self.add_weight(name=name, shape=shape, initializer=start, **kept)

    def _scaled_up(self) -> Tensor:
        return ops.expand_dims(self.values * self.scale, 1) * self.up


def prepare_adalora(model: BackboneWithHeads, method: AdaLoRA, steps_per_epoch: int) -> Multipliers:
    """Adds a product to each projection that is a target, freezes the backbone and gives the ranks out.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    places = low_rank_targets(
        model, method.targets, method.initial_rank, "method.initial_rank", method.dropout
    )
    scale, share = method.alpha / (method.initial_rank + _MORE), method.orthogonality / (2 * len(places))
    arguments = (method.initial_rank, scale, method.dropout, share)
    add_low_ranks(model, method, places, SingularValueAddition, *arguments)
    model.added.observers.append(RankAllocator(model.added.held, method))
    return {}
