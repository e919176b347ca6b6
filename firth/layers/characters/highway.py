"""A layer that lets a part of its input pass."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.checks import check_positive, check_width
from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import drawn, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor

# Gates start nearly closed, and inputs pass.
_GATE_BIAS = -2.0


@keras.saving.register_keras_serializable(package="firth")
class Highway(Layer):
    """A dense layer and its input, mixed by a gate.

    `t relu(x W + b) + (1 - t) x` with `t = sigmoid(x V + c)` (Srivastava et al. 2015, "Highway Networks",
    section 2). ELMo's reference code calls the gate's weights those of the carry gate.

    Args:
        width: Width of inputs and outputs.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if the width is below 1, or the input is not as wide as said.

    Example:

    >>> import numpy as np
    >>> tuple(Highway(width=4)(np.ones((2, 3, 4))).shape)
    (2, 3, 4)
    """

    def __init__(self, width: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_positive("Highway", width=width)
        self._seed_generator = seed_generator(seed)

    def build(self, hidden_shape: Shape) -> None:
        """Creates `kernel` [width, 2 width] and `bias`, those of the gate first.

        As in the reference code kernels start from a normal with a stddev of one over the width's root, the
        bias of the gate at -2.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
        """
        check_width("Highway", self.width, hidden_shape)
        start = drawn(keras.initializers.RandomNormal(stddev=self.width**-0.5, seed=self._seed_generator))
        self.kernel = self.add_weight(name="kernel", shape=(self.width, 2 * self.width), initializer=start)
        self.bias = self.add_weight(name="bias", shape=(2 * self.width,), initializer=self._start_bias)

    def _start_bias(self, shape: Shape, dtype: Any = None) -> Tensor:
        zeros = ops.zeros((self.width,), dtype)
        return ops.concatenate([zeros + _GATE_BIAS, zeros])

    def call(self, hidden: Tensor) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
        """
        tokens = ops.reshape(hidden, (-1, self.width))
        gate, transformed = ops.split(ops.add(ops.matmul(tokens, self.kernel), self.bias), 2, axis=-1)
        mixed = tokens + ops.sigmoid(gate) * (ops.relu(transformed) - tokens)
        return ops.reshape(mixed, ops.shape(hidden))
