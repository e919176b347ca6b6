"""A transformer block of XLNet."""

from typing import Any, cast

import keras
from keras import ops

from firth.layers.attention.stream_rows import StreamRows
from firth.layers.attention.two_stream_attention import TwoStreamAttention
from firth.layers.blocks.transformer_block import TransformerBlock, read_with
from firth.layers.elements.configs import AnyTwoStreams, two_streams_of
from firth.layers.elements.types import Seed, Tensor


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamBlock(TransformerBlock):
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

    _stack_of = staticmethod(two_streams_of)

    def __init__(self, stack: AnyTwoStreams, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(cast(Any, stack), seed=seed, **kwargs)

    def _make_attention(self, **start: Any) -> TwoStreamAttention:
        parts = self.stack.attention
        return TwoStreamAttention(
            self.stack.width,
            parts.heads,
            head_width=parts.head_width,
            scaled=parts.scaled,
            dropout=parts.dropout,
            initializer_stddev=self.stack.initializer_stddev,
            name="attention",
            **start,
        )

    def call(  # type: ignore[override]
        self,
        hidden: Tensor,
        content: Tensor,
        relative: Tensor,
        differs: Tensor | None,
        bias: Tensor | StreamRows,
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
            differs: Float tensor [batch, 1, rows, length], 1 where a key is in another segment, 0 elsewhere;
                None where `bias` tells it.
            bias: Float32 tensor [batch, 1, rows, length], added to the scores, or a `StreamRows`.
            positions: int32 [batch, predictions], where the tokens of the query stream stand; None without
                them.
            both: Whether `hidden` holds the content stream and, after it, the query stream.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        reading = {"bias": bias, "positions": positions, "both": both, "training": training}
        attend = read_with(self.attention, content, relative, differs, **reading)
        return self._run(ops.cast(hidden, self.compute_dtype), attend, None, training)
