"""A transformer block with its norms behind the residuals."""

import keras

from firth.layers.dropout import Dropout
from firth.layers.feed_forward import FeedForward
from firth.layers.seeds import plain_seed, seed_generator
from firth.layers.self_attention import SelfAttention


@keras.saving.register_keras_serializable(package="firth")
class PostNormBlock(keras.layers.Layer):
    """Self-attention, then feed-forward, each as `norm(x + dropout(sublayer(x)))`.

    Vaswani et al. 2017, "Attention Is All You Need", section 3.1 and 5.4; the block of BERT.

    Args:
        width: Of the hidden states.
        heads: Attention heads; they divide the width.
        feed_forward_width: Of the inner layer.
        activation: `gelu`, `gelu_approximate` or `relu`.
        dropout: Share of each sublayer's output that is dropped in training.
        attention_dropout: Share of the attention probabilities that is dropped in training.
        norm_epsilon: Added to the variance in each layer norm.
        initializer_stddev: Of the truncated normal that the kernels start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.seeds`.

    Call arguments:
        hidden: Float tensor [batch, length, width].
        bias: Float tensor [batch, 1, length, length], added to the attention scores.
        training: Whether dropout acts.

    Raises:
        ValueError: as `SelfAttention`, `FeedForward` and `Dropout` do.

    Example:

    >>> import numpy as np
    >>> block = PostNormBlock(width=8, heads=2, feed_forward_width=32)
    >>> tuple(block(np.ones((1, 3, 8)), np.zeros((1, 1, 3, 3))).shape)
    (1, 3, 8)
    """

    def __init__(
        self,
        width,
        heads,
        feed_forward_width,
        activation="gelu",
        dropout=0.0,
        attention_dropout=0.0,
        norm_epsilon=1e-12,
        initializer_stddev=0.02,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.norm_epsilon = norm_epsilon
        self.seed = plain_seed(seed)
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        start = {"initializer_stddev": initializer_stddev, **common}
        self.attention = SelfAttention(width, heads, attention_dropout, name="attention", **start)
        self.attention_norm = self._norm("attention_norm")
        self.feed_forward = FeedForward(width, feed_forward_width, activation, name="feed_forward", **start)
        self.feed_forward_norm = self._norm("feed_forward_norm")
        self.dropout = Dropout(dropout, name="dropout", **common)

    def _norm(self, name):
        return keras.layers.LayerNormalization(epsilon=self.norm_epsilon, dtype=self.dtype_policy, name=name)

    def build(self, hidden_shape, bias_shape=None):
        """Creates the weights of attention, feed-forward and both norms."""
        self.attention.build(hidden_shape)
        self.attention_norm.build(hidden_shape)
        self.feed_forward.build(hidden_shape)
        self.feed_forward_norm.build(hidden_shape)
        self.dropout.build(hidden_shape)

    def call(self, hidden, bias, training=None):
        """Returns a float tensor [batch, length, width]."""
        attended = self.dropout(self.attention(hidden, bias, training=training), training=training)
        hidden = self.attention_norm(hidden + attended)
        transformed = self.dropout(self.feed_forward(hidden), training=training)
        return self.feed_forward_norm(hidden + transformed)

    def compute_output_shape(self, hidden_shape, bias_shape=None):
        """The shape of `hidden`."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "width": self.attention.width,
            "heads": self.attention.heads,
            "feed_forward_width": self.feed_forward.inner_width,
            "activation": self.feed_forward.activation,
            "dropout": self.dropout.rate,
            "attention_dropout": self.attention.dropout.rate,
            "norm_epsilon": self.norm_epsilon,
            "initializer_stddev": self.attention.initializer_stddev,
            "seed": self.seed,
        }
