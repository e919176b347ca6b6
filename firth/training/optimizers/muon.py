"""Muon: the momentum of a matrix is made orthogonal before it is a step."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np
from keras import ops

from firth.layers.elements.extensible_layer import extensible_layers
from firth.layers.elements.types import Tensor
from firth.training.optimizers.adamw import AdamW

# The axis along which a weight falls into matrices and their sizes along it, by its path.
Matrices: TypeAlias = Mapping[str, tuple[int, Sequence[int]]]

# Coefficients of a x + b x^3 + c x^5, which takes singular values to around 1 (Jordan et al. 2024).
_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_TINY = 1e-7


def matrices_of(model: keras.Model) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Returns the weights of a model that are matrices of its blocks, or several of them side by side.

    They are those of attention and feed-forward layers; queries, keys and values, which have one weight
    together, are a matrix each.
    """
    found: dict[str, tuple[int, tuple[int, ...]]] = {}
    for layer in extensible_layers(model):
        for place in layer.places():
            columns = place.columns
            if columns is None or columns.direction is not None:
                continue
            path = columns.kernel.path
            _, before = found.get(path, (0, ()))
            found[path] = (0 if columns.turned else 1, (*before, columns.count))
    return found


def orthogonal(matrix: Tensor, steps: int) -> Tensor:
    """Returns a matrix of the same singular vectors, with singular values from about 0.7 to 1.2.

    A Newton-Schulz iteration of the fifth order (Jordan et al. 2024, "Muon: An optimizer for hidden layers
    in neural networks"), on whichever of the matrix and its transpose has fewer rows.

    Args:
        matrix: float32 [rows, columns].

    Example:

    >>> made = orthogonal(np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0]], "float32"), steps=5)
    >>> [[round(float(each), 2) for each in row] for row in made]
    [[1.12, 0.0, 0.0], [0.0, 0.0, 0.68]]
    """
    a, b, c = _COEFFICIENTS
    is_tall = matrix.shape[0] > matrix.shape[1]
    made = ops.transpose(matrix) if is_tall else matrix
    made = made / (ops.norm(made) + _TINY)
    for _ in range(steps):
        square = ops.matmul(made, ops.transpose(made))
        made = a * made + ops.matmul(b * square + c * ops.matmul(square, square), made)
    return ops.transpose(made) if is_tall else made


@keras.saving.register_keras_serializable("firth")
class Muon(AdamW):
    """Muon for the matrices of blocks, AdamW for all other weights (Jordan et al. 2024).

    The momentum of a matrix, with Nesterov's step ahead, is made orthogonal and then scaled to the root mean
    square that updates of AdamW have, so that one learning rate suits both (Liu et al. 2025, "Muon is
    Scalable for LLM Training", section 2.2): `update_rms x sqrt(max(rows, columns))`, as Keras has it from
    3.13 on. Keras's own of 3.12 scales otherwise, and takes queries, keys and values for one matrix.

    Gradients are summed over replicas and clipped before; see `AdamW`.

    Raises:
        ValueError: for a path that no variable has, and for arguments that `AdamW` refuses.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        matrices: Matrices | None = None,
        momentum: float = 0.95,
        newton_schulz_steps: int = 5,
        update_rms: float = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.matrices = {path: (axis, tuple(sizes)) for path, (axis, sizes) in (matrices or {}).items()}
        self.momentum, self.newton_schulz_steps = momentum, newton_schulz_steps
        self.update_rms = update_rms
        self._of_index: dict[int, tuple[int, tuple[int, ...]]] = {}

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        keras.optimizers.Optimizer.build(self, variables)
        places = {variable.path: index for index, variable in enumerate(variables)}
        # Weights that a method keeps as they are have no place.
        self._of_index = {places[path]: value for path, value in self.matrices.items() if path in places}
        self._momentums = [self._kept(each, "momentum") for each in variables]
        self._velocities = [
            None if index in self._of_index else self._kept(each, "velocity")
            for index, each in enumerate(variables)
        ]

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        index = self._index(variable)
        if index not in self._of_index:
            super()._update(gradient, variable, rate)
            return
        kept = self._next_momentum(gradient, index)
        axis, sizes = self._of_index[index]
        ahead = _apart(gradient + self.momentum * kept, axis, sizes)
        step = ops.concatenate([self._scaled(part) for part in ahead], axis=axis)
        self.assign(variable, variable - ops.cast(rate, variable.dtype) * step)

    def _next_momentum(self, gradient: Tensor, index: int) -> Tensor:
        """Returns the momentum with a gradient, float32, and stores it."""
        place = self._momentums[index]
        value = self.momentum * ops.cast(place, "float32") + gradient
        if self._is_rounded:
            self._store([place], [value], index)
        else:
            self.assign(place, value)
        return value

    def _scaled(self, momentum: Tensor) -> Tensor:
        scale = self.update_rms * max(momentum.shape) ** 0.5
        return scale * orthogonal(momentum, self.newton_schulz_steps)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this optimizer."""
        return {
            **super().get_config(),
            "matrices": {path: [axis, list(sizes)] for path, (axis, sizes) in self.matrices.items()},
            "momentum": self.momentum,
            "newton_schulz_steps": self.newton_schulz_steps,
            "update_rms": self.update_rms,
        }


def _apart(matrix: Tensor, axis: int, sizes: Sequence[int]) -> list[Tensor]:
    # TensorFlow does not split into one part.
    ends = np.cumsum(sizes)[:-1].tolist()
    return list(ops.split(matrix, ends, axis=axis)) if ends else [matrix]
