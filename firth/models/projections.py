"""Dense layers after pooling, which make the vector of a text of an imported sentence encoder."""

from collections.abc import Sequence
from typing import Any

import keras

from firth.layers.elements.types import Tensor
from firth.recipes.training.export import Projection


class Projections(keras.layers.Layer):
    """Dense layers, each with its activation, in float32. They are not trained.

    Args:
        projections: The recipe's `export.projections`.
        width: Width of the vectors that come in.
        **kwargs: Keywords of `keras.layers.Layer`.

    Example:

    >>> import numpy as np
    >>> layers = Projections([Projection(width=3, activation="tanh")], width=2)
    >>> layers.build()
    >>> layers(np.ones([5, 2], "float32")).shape, layers.count_params()
    (TensorShape([5, 3]), 9)
    """

    def __init__(self, projections: Sequence[Projection], width: int, **kwargs: Any) -> None:
        super().__init__(trainable=False, dtype="float32", **kwargs)
        self._widths = [width, *(each.width for each in projections)]
        self.parts = [
            keras.layers.Dense(
                each.width,
                activation=each.activation,
                use_bias=each.bias,
                dtype="float32",
                trainable=False,
                name=f"projection_{number}",
            )
            for number, each in enumerate(projections)
        ]

    def build(self, input_shape: Any = None) -> None:
        """Creates all weights.

        Args:
            input_shape: Shape of the vectors; not read.
        """
        for layer, width in zip(self.parts, self._widths):
            layer.build((None, width))
        self.built = True

    def call(self, vectors: Tensor) -> Tensor:
        """Returns the vectors after all layers, float32 [batch, width of the last].

        Args:
            vectors: float [batch, width].
        """
        for layer in self.parts:
            vectors = layer(vectors)
        return vectors
