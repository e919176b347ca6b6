"""Positions as fixed sines and cosines."""

from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.layer import Layer
from firth.layers.elements.types import Shape, Tensor, check_positive


@keras.saving.register_keras_serializable(package="firth")
class SinusoidalPositions(Layer):
    """A vector for each position, of sines and cosines in turn.

    `PE(p, 2i) = sin(p / 10000 ** (2i / width))`, `PE(p, 2i + 1)` the cosine of the same angle (Vaswani et al.
    2017, "Attention Is All You Need", section 3.5).

    Args:
        width: Width of a vector.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if the width is below 1.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 4) for value in SinusoidalPositions(width=4)(np.array([[1]]))[0, 0]]
    [0.8415, 0.5403, 0.01, 0.9999]
    """

    def __init__(self, width: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_positive("SinusoidalPositions", width=width)
        columns = np.arange(width)
        self._frequencies = 10_000.0 ** (-(columns - columns % 2) / width)
        self._phases = columns % 2 * (np.pi / 2)

    def build(self, position_ids_shape: Shape | None = None) -> None:
        """Creates nothing: there are no weights.

        Args:
            position_ids_shape: Shape of `position_ids`, (batch, length); not read.
        """
        self.built = True

    def call(self, position_ids: Tensor) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            position_ids: int32 [batch, length].
        """
        places = ops.cast(ops.expand_dims(position_ids, -1), "float32")
        angles = places * ops.cast(self._frequencies, "float32") + ops.cast(self._phases, "float32")
        return ops.cast(ops.sin(angles), self.compute_dtype)

    def compute_output_shape(self, position_ids_shape: Shape) -> Shape:
        """The shape of the ids, and `width`.

        Args:
            position_ids_shape: Shape of `position_ids`, (batch, length); None on an axis of unknown length.
        """
        return (*position_ids_shape, self.width)


def relative_sinusoids(length: Tensor | int, width: int) -> Tensor:
    """Returns a vector for each distance between two tokens of a row, in both directions.

    Sines of all frequencies, then cosines: `sin(d / 10000 ** (2i / width))` in column i (Dai et al. 2019,
    "Transformer-XL", section 3.3, whose order of columns differs from that of Vaswani et al. 2017).

    Returns:
        float32 [2 length, width]; row r is the distance `length - r`, the query's place less the key's.

    Example:

    >>> tuple(relative_sinusoids(3, width=4).shape)
    (6, 4)
    """
    if width % 2:
        raise ValueError(f"relative_sinusoids: `width` must be even. Received: width={width}")
    distances = ops.cast(length - ops.arange(2 * length, dtype="int32"), "float32")
    frequencies = 10_000.0 ** (np.arange(width // 2) * (-2.0 / width))
    angles = ops.expand_dims(distances, 1) * ops.cast(frequencies, "float32")
    return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=1)
