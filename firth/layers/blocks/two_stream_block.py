"""A transformer block of XLNet."""

from typing import Any

import keras
from keras import ops

from firth.layers.attention.two_stream_attention import TwoStreamAttention
from firth.layers.blocks.feed_forward import build_feed_forward
from firth.layers.elements.configs import AnyTwoStreams, two_streams_of
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.layer import Layer
from firth.layers.elements.norms import build_norm
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamBlock(Layer):
    """Attention to the content stream, then feed-forward, each followed by a residual and a layer norm.

    `norm(x + dropout(sublayer(x)))`, for the tokens of one stream or of both with the same weights (Yang et
    al. 2019, "XLNet", section 2.3 and appendix A.2).

    Args:
        stack: The stack that the block is a part of, a `TwoStreamTransformerConfig` or a mapping of its
            values.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: for a value of `stack` that does not fit, with the nearest valid name.

    Example:

    >>> import numpy as np
    >>> block, ones = TwoStreamBlock({"width": 8, "attention": {"heads": 2}}), np.ones((1, 3, 8))
    >>> zeros = np.zeros((1, 1, 3, 3))
    >>> tuple(block(ones, ones, np.ones((6, 8)), zeros, zeros).shape)
    (1, 3, 8)
    """

    def __init__(self, stack: AnyTwoStreams, seed: Seed = None, **kwargs: Any) -> None:
        # A bias stays float32 under mixed precision; hidden states are cast where they enter.
        super().__init__(autocast=False, **kwargs)
        self.stack = two_streams_of(stack)
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        parts = self.stack.attention
        self.attention = TwoStreamAttention(
            self.stack.width,
            parts.heads,
            head_width=parts.head_width,
            scaled=parts.scaled,
            dropout=parts.dropout,
            initializer_stddev=self.stack.initializer_stddev,
            name="attention",
            **common,
        )
        self.attention_norm = self._norm("attention_norm")
        self.feed_forward = build_feed_forward(self.stack, **common)
        self.feed_forward_norm = self._norm("feed_forward_norm")
        self.dropout = Dropout(self.stack.dropout, name="dropout", **common)

    def _norm(self, name: str) -> keras.layers.Layer:
        return build_norm(epsilon=self.stack.norm_epsilon, dtype=self.dtype_policy, name=name)

    def build(self, hidden_shape: Shape) -> None:
        """Creates the weights of `attention` and `feed_forward`, each with its `_norm`.

        Args:
            hidden_shape: Shape of `hidden`, (batch, rows, width); None on an axis of unknown length.
        """
        for part in (self.attention, self.attention_norm, self.feed_forward, self.feed_forward_norm):
            part.build(hidden_shape)
        self.dropout.build(hidden_shape)

    def call(
        self,
        hidden: Tensor,
        content: Tensor,
        relative: Tensor,
        differs: Tensor,
        bias: Tensor,
        positions: Tensor | None = None,
        both: bool = False,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, rows, width].

        Args:
            hidden: Float tensor [batch, rows, width] of the tokens that read, as in
                `TwoStreamAttention.call`.
            content: Float tensor [batch, length, width], the content stream before this block.
            relative: Float tensor [2 length, width], sinusoids of the distances from `length` down.
            differs: Float tensor [batch, 1, rows, length], 1 where a key is in another segment, 0 elsewhere.
            bias: Float32 tensor [batch, 1, rows, length], added to the scores.
            positions: int32 [batch, predictions], where the tokens of the query stream stand; None without
                them.
            both: Whether `hidden` holds the content stream and, after it, the query stream.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        attended = self.attention(
            hidden, content, relative, differs, bias, positions, both=both, training=training
        )
        hidden = self.attention_norm(hidden + self.dropout(attended, training=training))
        transformed = self.dropout(self.feed_forward(hidden, training=training), training=training)
        return self.feed_forward_norm(hidden + transformed)
