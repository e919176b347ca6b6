"""The position-wise feed-forward layer of a transformer block."""

import keras
from keras import ops

from firth.layers.activations import get_activation
from firth.layers.checks import check_positive, check_width
from firth.layers.seeds import plain_seed, seed_generator, truncated_normal


@keras.saving.register_keras_serializable(package="firth")
class FeedForward(keras.layers.Layer):
    """Two dense layers with an activation between them, applied to each token alone.

    `f(x W1 + b1) W2 + b2` (Vaswani et al. 2017, "Attention Is All You Need", section 3.3).

    Args:
        width: Of the hidden states.
        inner_width: Of the layer between; usually four times the width.
        activation: `gelu`, `gelu_approximate` or `relu`.
        initializer_stddev: Of the truncated normal that the kernels start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.seeds`.

    Call arguments:
        hidden: Float tensor [batch, length, width].

    Raises:
        ValueError: if a width is below 1, the activation is unknown, or the input is not as wide as said.

    Example:

    >>> import numpy as np
    >>> tuple(FeedForward(width=4, inner_width=16)(np.ones((2, 3, 4))).shape)
    (2, 3, 4)
    """

    def __init__(self, width, inner_width, activation="gelu", initializer_stddev=0.02, seed=None, **kwargs):
        super().__init__(**kwargs)
        check_positive("FeedForward", width=width, inner_width=inner_width)
        self.width = width
        self.inner_width = inner_width
        self.activation = activation
        self.initializer_stddev = initializer_stddev
        self.seed = plain_seed(seed)
        kernel = truncated_normal(initializer_stddev, seed_generator(seed))
        self._activate = get_activation(activation)
        self.inner = keras.layers.Dense(
            inner_width, kernel_initializer=kernel, dtype=self.dtype_policy, name="inner"
        )
        self.outer = keras.layers.Dense(
            width, kernel_initializer=kernel, dtype=self.dtype_policy, name="outer"
        )

    def build(self, hidden_shape):
        """Creates the two dense layers' weights."""
        check_width("FeedForward", self.width, hidden_shape)
        self.inner.build((None, self.width))
        self.outer.build((None, self.inner_width))

    def call(self, hidden):
        """Returns a float tensor [batch, length, width]."""
        # With all tokens on one axis a gradient of a kernel is one matmul, not a sum of one per example.
        tokens = ops.reshape(hidden, (-1, self.width))
        return ops.reshape(self.outer(self._activate(self.inner(tokens))), ops.shape(hidden))

    def compute_output_shape(self, hidden_shape):
        """The shape of the input."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "width": self.width,
            "inner_width": self.inner_width,
            "activation": self.activation,
            "initializer_stddev": self.initializer_stddev,
            "seed": self.seed,
        }
