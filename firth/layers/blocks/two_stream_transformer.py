"""XLNet's encoder of two streams over packed rows."""

from typing import Any, cast

import keras
from keras import ops

from firth.layers.attention.attention_bias import AttentionMask
from firth.layers.attention.row_chunked_attention import suits_rows
from firth.layers.attention.two_stream_attention import Stream, StreamRows, TwoStreamAttention
from firth.layers.blocks.transformer_block import TransformerBlock, read_with
from firth.layers.elements.configs import AnyTwoStreams, two_streams_of
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.layer import document_ids_of, mask_of
from firth.layers.elements.rematerialisation import BlocksLayer
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.layers.positions.sinusoidal_positions import relative_sinusoids


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamTransformer(BlocksLayer):
    """A content stream over all tokens, and next to it, if asked, a query stream at the predicted ones.

    Yang et al. 2019, "XLNet", sections 2.3 to 2.5. A token of the content stream sees tokens whose order is
    not above its own, itself included. A token of the query stream knows its place but not itself: it sees
    the content stream where the order is below its own. Both are limited to their document, and use the same
    weights. The memory of segments before (section 2.4) is left out: rows are independent.

    Args:
        stack: Settings of the stack: a `TwoStreamTransformerConfig` or a mapping of its values. Dropout
            acts on the input, on the sinusoids (one draw for a whole batch), on each sublayer's output and on
            the output.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy. Under `mixed_bfloat16` matmuls run in bfloat16, softmax and norms in
            float32.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: for a query stream without positions or an order, and as the parts do.

    Example:

    >>> import numpy as np
    >>> encoder = TwoStreamTransformer({"layers": 2, "width": 8, "attention": {"heads": 2}})
    >>> documents, segments = np.array([[1, 1, 2, 0]]), np.array([[0, 1, 0, 0]])
    >>> tuple(encoder(np.ones((1, 4, 8)), documents, segments).shape)
    (1, 4, 8)
    """

    def __init__(self, stack: AnyTwoStreams, seed: Seed = None, **kwargs: Any) -> None:
        # Sinusoids stay float32 under mixed precision; blocks cast what they read.
        super().__init__(autocast=False, **kwargs)
        self.stack = two_streams_of(stack)
        if self.stack.width % 2:
            raise ValueError(f"TwoStreamTransformer: width: {self.stack.width} must be even")
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        places = range(self.stack.layers)
        self.blocks = [TwoStreamBlock(self.stack, name=f"block_{index}", **common) for index in places]
        self.dropout = Dropout(self.stack.dropout, name="dropout", **common)
        self.relative_dropout = Dropout(
            self.stack.dropout, batch_axis=None, name="relative_dropout", **common
        )

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """Names of the layers that weights are in: none before the first block, then each block's."""
        return ((), *((block.name,) for block in self.blocks))

    def build(self, content_shape: Shape) -> None:
        """Creates the weights of every block.

        Args:
            content_shape: Shape of `content`, (batch, length, width); None on an axis of unknown length.
        """
        for block in self.blocks:
            block.build(content_shape)
        self.dropout.build(content_shape)

    def call(
        self,
        content: Tensor,
        document_ids: Tensor | None = None,
        segment_ids: Tensor | None = None,
        attention_order: Tensor | None = None,
        query: Tensor | None = None,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
        content_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns the content stream, or with `query` the query stream.

        Args:
            content: Float tensor [batch, length, width], embeddings of the tokens.
            document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other; None
                for rows of one document.
            segment_ids: Int tensor [batch, length]; only whether two tokens have the same one matters. None
                for one segment.
            attention_order: Int tensor [batch, length]. Without it the content stream sees whole documents;
                the query stream needs it.
            query: Float tensor [batch, predictions, width] that the query stream starts from, or None.
            positions: int32 [batch, predictions], places of the query stream's tokens in their rows; None
                without `query`.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            content_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor: the content stream [batch, length, width], or with `query` the query stream
            [batch, predictions, width].
        """
        content = self.dropout(ops.cast(content, self.compute_dtype), training=training)
        relative = relative_sinusoids(ops.shape(content)[1], self.stack.width)
        relative = self.relative_dropout(relative, training=training)
        document_ids = document_ids_of(content, document_ids, mask_of(mask, content_mask))
        segment_ids = ops.zeros_like(document_ids) if segment_ids is None else segment_ids
        seen_by_content = AttentionMask(document_ids, attention_order)
        by_rows = suits_rows(seen_by_content)
        own = Stream(seen_by_content, segment_ids, segment_ids)
        if query is None:
            reading = _seen((own,), by_rows)
            for block in self.blocks:
                content = self._run_block(block, content, content, relative, **reading, training=training)
            return self.dropout(content, training=training)
        query = self.dropout(ops.cast(query, self.compute_dtype), training=training)
        of_query = self._query_stream(document_ids, segment_ids, attention_order, positions)
        seen = (_seen((own, of_query), by_rows), _seen((of_query,), by_rows))
        query = self._both(content, query, relative, seen, positions, training)
        return self.dropout(query, training=training)

    def _query_stream(
        self,
        document_ids: Tensor,
        segment_ids: Tensor,
        attention_order: Tensor | None,
        positions: Tensor | None,
    ) -> Stream:
        """Returns the masks of the query stream's tokens."""
        for name, value in (("attention_order", attention_order), ("positions", positions)):
            if value is None:
                raise ValueError(f"TwoStreamTransformer: `query` needs `{name}`. Received: {name}=None")
        documents, segments, order = (
            ops.take_along_axis(ids, ops.cast(positions, "int32"), axis=1)
            for ids in (document_ids, segment_ids, attention_order)
        )
        # A key's order is below a query's where it is not above the one before.
        mask = AttentionMask(documents, order - 1, False, document_ids, attention_order)
        return Stream(mask, segments, segment_ids, positions)

    def _both(
        self,
        content: Tensor,
        query: Tensor,
        relative: Tensor,
        seen: tuple[dict[str, Any], dict[str, Any]],
        positions: Tensor | None,
        training: bool | None,
    ) -> Tensor:
        """Returns the query stream after the last block, which need not renew the content stream."""
        length = ops.shape(content)[1]
        by_both, by_query = ({**each, "positions": positions, "training": training} for each in seen)
        states = ops.concatenate([content, query], axis=1)
        for block in self.blocks[:-1]:
            states = self._run_block(block, states, states[:, :length], relative, both=True, **by_both)
        content, query = states[:, :length], states[:, length:]
        return self._run_block(self.blocks[-1], query, content, relative, **by_query)

    def compute_output_shape(
        self,
        content_shape: Shape,
        document_ids_shape: Shape | None = None,
        segment_ids_shape: Shape | None = None,
        attention_order_shape: Shape | None = None,
        query_shape: Shape | None = None,
    ) -> Shape:
        """The shape of `query`, or without one that of `content`.

        Args:
            content_shape: Shape of `content`, (batch, length, width); None on an axis of unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.
            segment_ids_shape: Shape of `segment_ids`, (batch, length); not read.
            attention_order_shape: Shape of `attention_order`, (batch, length); not read.
            query_shape: Shape of `query`, (batch, predictions, width); None on an axis of unknown length.
        """
        return tuple(query_shape or content_shape)


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
                None where `bias` holds it.
            bias: Float32 tensor [batch, 1, rows, length], added to the scores, or a `StreamRows`.
            positions: int32 [batch, predictions], places of the query stream's tokens; None without them.
            both: Whether `hidden` holds the content stream and, after it, the query stream.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        reading = {"bias": bias, "positions": positions, "both": both, "training": training}
        attend = read_with(self.attention, content, relative, differs, **reading)
        return self._run(ops.cast(hidden, self.compute_dtype), attend, None, training)


def _seen(streams: tuple[Stream, ...], by_rows: bool) -> dict[str, Any]:
    """Returns the masks of streams as arguments of blocks, written out or described."""
    if by_rows:
        return {"differs": None, "bias": StreamRows(streams)}
    in_others, bias = (ops.concatenate(parts, axis=2) for parts in zip(*(each.whole() for each in streams)))
    return {"differs": in_others, "bias": bias}
