"""A transformer block of XLNet."""

import keras
from keras import ops

from firth.layers.attention.two_stream_attention import TwoStreamAttention
from firth.layers.blocks.feed_forward import FeedForward
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.norms import build_norm
from firth.layers.elements.parts import check_block_parts
from firth.layers.elements.seeds import plain_seed, seed_generator


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamBlock(keras.layers.Layer):
    """Attention to the content stream, then feed-forward, each followed by a residual and a layer norm.

    `norm(x + dropout(sublayer(x)))`, for the tokens of one stream or of both with the same weights (Yang et
    al. 2019, "XLNet", section 2.3 and appendix A.2).

    Args:
        width: Of the hidden states.
        attention: A dict of `TwoStreamAttention`'s arguments: `heads`, and if wanted `head_width`, `scaled`
            and `dropout`.
        feed_forward: A dict: `width` of the inner layer, `activation`, `gated` and `dropout`; see
            `FeedForward`.
        norm_epsilon: Added to the variance in each layer norm.
        dropout: Share of each sublayer's output that is dropped in training.
        initializer_stddev: Of the truncated normal that weights start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.

    Call arguments:
        hidden, content, relative, differs, bias, positions, both, training: As in `TwoStreamAttention`.

    Raises:
        ValueError: as the parts do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> block, ones = TwoStreamBlock(width=8, attention={"heads": 2}), np.ones((1, 3, 8))
    >>> zeros = np.zeros((1, 1, 3, 3))
    >>> tuple(block(ones, ones, np.ones((6, 8)), zeros, zeros).shape)
    (1, 3, 8)
    """

    def __init__(
        self,
        width,
        attention,
        feed_forward=None,
        norm_epsilon=1e-12,
        dropout=0.0,
        initializer_stddev=0.02,
        seed=None,
        **kwargs,
    ):
        # A bias stays float32 under mixed precision; hidden states are cast where they enter.
        super().__init__(autocast=False, **kwargs)
        check_block_parts("TwoStreamBlock", attention=attention, feed_forward=feed_forward)
        self._config = {
            "width": width,
            "attention": dict(attention),
            "feed_forward": dict(feed_forward or {}),
            "norm_epsilon": norm_epsilon,
            "dropout": dropout,
            "initializer_stddev": initializer_stddev,
            "seed": plain_seed(seed),
        }
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        start = {"initializer_stddev": initializer_stddev, **common}
        inner = dict(feed_forward or {})
        self.attention = TwoStreamAttention(width, **attention, **start, name="attention")
        self.attention_norm = self._norm("attention_norm")
        self.feed_forward = FeedForward(
            width, inner.pop("width", None), **inner, **start, name="feed_forward"
        )
        self.feed_forward_norm = self._norm("feed_forward_norm")
        self.dropout = Dropout(dropout, name="dropout", **common)

    def _norm(self, name):
        return build_norm(epsilon=self._config["norm_epsilon"], dtype=self.dtype_policy, name=name)

    def build(self, hidden_shape):
        """Creates the weights of `attention` and `feed_forward`, each with its `_norm`."""
        for part in (self.attention, self.attention_norm, self.feed_forward, self.feed_forward_norm):
            part.build(hidden_shape)
        self.dropout.build(hidden_shape)

    def call(self, hidden, content, relative, differs, bias, positions=None, both=False, training=None):
        """Returns a float tensor [batch, rows, width]."""
        hidden = ops.cast(hidden, self.compute_dtype)
        attended = self.attention(
            hidden, content, relative, differs, bias, positions, both=both, training=training
        )
        hidden = self.attention_norm(hidden + self.dropout(attended, training=training))
        transformed = self.dropout(self.feed_forward(hidden, training=training), training=training)
        return self.feed_forward_norm(hidden + transformed)

    def compute_output_shape(self, hidden_shape):
        """The shape of `hidden`."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), **self._config}
