"""Multi-head self-attention with one projection for queries, keys and values."""

import math

import keras
import numpy as np
from keras import ops

from firth.layers.checks import check_heads, check_positive, check_width
from firth.layers.dropout import Dropout
from firth.layers.seeds import plain_seed, seed_generator, truncated_normal


@keras.saving.register_keras_serializable(package="firth")
class SelfAttention(keras.layers.Layer):
    """Every token reads a weighted mean of the tokens that it may see.

    `softmax(Q K^T / sqrt(d) + bias) V` in each head, heads joined and projected (Vaswani et al. 2017,
    "Attention Is All You Need", section 3.2). Scores are float32 from the bias to the softmax, whatever the
    dtype policy.

    Args:
        width: Of the hidden states.
        heads: Attention heads; they divide the width.
        dropout: Share of the attention probabilities that is dropped in training.
        initializer_stddev: Of the truncated normal that the kernels start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.seeds`.

    Call arguments:
        hidden: Float tensor [batch, length, width].
        bias: Float tensor [batch, 1, length, length], added to the scores; see `document_bias`.
        training: Whether dropout acts.

    Raises:
        ValueError: if a number is below 1, if `heads` does not divide `width`, or if the input is not as
            wide as said.

    Example:

    >>> import numpy as np
    >>> layer = SelfAttention(width=8, heads=2)
    >>> tuple(layer(np.ones((1, 3, 8)), np.zeros((1, 1, 3, 3))).shape)
    (1, 3, 8)
    """

    def __init__(self, width, heads, dropout=0.0, initializer_stddev=0.02, seed=None, **kwargs):
        super().__init__(**kwargs)
        check_positive("SelfAttention", width=width, heads=heads)
        check_heads("SelfAttention", width, heads)
        self.width = width
        self.heads = heads
        self.initializer_stddev = initializer_stddev
        self.seed = plain_seed(seed)
        generator = seed_generator(seed)
        self._kernel_initializer = truncated_normal(initializer_stddev, generator)
        self.dropout = Dropout(dropout, seed=generator, dtype=self.dtype_policy, name="dropout")
        self.output_projection = keras.layers.Dense(
            width, kernel_initializer=self._kernel_initializer, dtype=self.dtype_policy, name="output"
        )

    def build(self, hidden_shape, bias_shape=None):
        """Creates `kernel` [width, 3 width], `bias` [3 width] and the output projection."""
        check_width("SelfAttention", self.width, hidden_shape)
        self.kernel = self.add_weight(
            name="kernel", shape=(self.width, 3 * self.width), initializer=self._kernel_initializer
        )
        self.bias = self.add_weight(name="bias", shape=(3 * self.width,), initializer="zeros")
        self.dropout.build((None, self.heads, None, None))
        self.output_projection.build((None, self.width))

    def call(self, hidden, bias, training=None):
        """Returns a float tensor [batch, length, width]."""
        query, key, value = self._project(hidden)
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2)))
        scores = ops.cast(scores, "float32") + ops.cast(bias, "float32")
        probabilities = ops.cast(ops.softmax(scores), self.compute_dtype)
        context = ops.matmul(self.dropout(probabilities, training=training), value)
        context = ops.reshape(ops.transpose(context, (0, 2, 1, 3)), (-1, self.width))
        return ops.reshape(self.output_projection(context), ops.shape(hidden))

    def _project(self, hidden):
        """Returns queries, keys and values [batch, heads, length, head width], queries scaled."""
        batch, length, _ = ops.shape(hidden)
        head_width = self.width // self.heads
        # Scaling the queries' share of the weights is less work than scaling queries or scores.
        scale = np.ones(3 * self.width, "float32")
        scale[: self.width] = 1.0 / math.sqrt(head_width)
        scale = ops.cast(scale, self.compute_dtype)
        tokens = ops.reshape(hidden, (-1, self.width))
        projected = ops.add(ops.matmul(tokens, self.kernel * scale), self.bias * scale)
        projected = ops.reshape(projected, (batch, length, 3, self.heads, head_width))
        # One transpose of all three, after which taking them apart copies nothing.
        return ops.unstack(ops.transpose(projected, (2, 0, 3, 1, 4)), 3)

    def compute_output_shape(self, hidden_shape, bias_shape=None):
        """The shape of `hidden`."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "width": self.width,
            "heads": self.heads,
            "dropout": self.dropout.rate,
            "initializer_stddev": self.initializer_stddev,
            "seed": self.seed,
        }
