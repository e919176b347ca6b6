"""XLNet's encoder of two streams over packed rows."""

from typing import Any

import keras
from keras import ops

from firth.layers.attention.attention_bias import attention_bias
from firth.layers.blocks.two_stream_block import TwoStreamBlock
from firth.layers.elements.configs import AnyTwoStreams, two_streams_of
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.rematerialisation import BlocksLayer
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.layers.positions.relative_sinusoids import relative_sinusoids


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamTransformer(BlocksLayer):
    """A content stream over all tokens, and next to it, if asked, a query stream at the predicted ones.

    Yang et al. 2019, "XLNet", sections 2.3 to 2.5. A token of the content stream sees tokens whose order is
    not above its own, itself included. A token of the query stream knows where it stands but not what it is:
    it sees the content stream where the order is below its own. Both are limited to their document, and use
    the same weights. The memory of segments before (section 2.4) is left out: rows are independent.

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
        document_ids: Tensor,
        segment_ids: Tensor,
        attention_order: Tensor | None = None,
        query: Tensor | None = None,
        positions: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns the content stream, or with `query` the query stream.

        Args:
            content: Float tensor [batch, length, width], embeddings of the tokens.
            document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other.
            segment_ids: Int tensor [batch, length]; only whether two tokens have the same one matters.
            attention_order: Int tensor [batch, length]. Without it the content stream sees whole documents;
                the query stream needs it.
            query: Float tensor [batch, predictions, width] that the query stream starts from, or None.
            positions: int32 [batch, predictions], places of the query stream's tokens in their rows; None
                without `query`.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor: the content stream [batch, length, width], or with `query` the query stream
            [batch, predictions, width].
        """
        content = self.dropout(ops.cast(content, self.compute_dtype), training=training)
        relative = relative_sinusoids(ops.shape(content)[1], self.stack.width)
        relative = self.relative_dropout(relative, training=training)
        differs = _differs(segment_ids, segment_ids)
        bias = attention_bias(document_ids, attention_order)
        if query is None:
            for block in self.blocks:
                content = self._run_block(block, content, content, relative, differs, bias, training=training)
            return self.dropout(content, training=training)
        query = self.dropout(ops.cast(query, self.compute_dtype), training=training)
        own = self._of_query_stream(document_ids, segment_ids, attention_order, positions)
        query = self._both(content, query, relative, (differs, bias), own, positions, training)
        return self.dropout(query, training=training)

    def _of_query_stream(
        self,
        document_ids: Tensor,
        segment_ids: Tensor,
        attention_order: Tensor | None,
        positions: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Returns which keys are in other segments, and the bias, of the query stream's tokens."""
        for name, value in (("attention_order", attention_order), ("positions", positions)):
            if value is None:
                raise ValueError(f"TwoStreamTransformer: `query` needs `{name}`. Received: {name}=None")
        documents, segments, order = (
            ops.take_along_axis(ids, ops.cast(positions, "int32"), axis=1)
            for ids in (document_ids, segment_ids, attention_order)
        )
        # A key's order is below a query's where it is not above the one before.
        bias = attention_bias(
            documents, order - 1, key_document_ids=document_ids, key_attention_order=attention_order
        )
        return _differs(segments, segment_ids), bias

    def _both(
        self,
        content: Tensor,
        query: Tensor,
        relative: Tensor,
        of_content: tuple[Tensor, Tensor],
        of_query: tuple[Tensor, Tensor],
        positions: Tensor | None,
        training: bool | None,
    ) -> Tensor:
        """Returns the query stream after the last block, which need not renew the content stream."""
        length = ops.shape(content)[1]
        of_both = [ops.concatenate(pair, axis=2) for pair in zip(of_content, of_query)]
        states = ops.concatenate([content, query], axis=1)
        for block in self.blocks[:-1]:
            read = states, states[:, :length], relative, *of_both, positions
            states = self._run_block(block, *read, both=True, training=training)
        content, query = states[:, :length], states[:, length:]
        read = query, content, relative, *of_query, positions
        return self._run_block(self.blocks[-1], *read, training=training)

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


def _differs(segments: Tensor, of_keys: Tensor) -> Tensor:
    """Returns 1 where a key is in another segment, float32 [batch, 1, rows, length]."""
    differs = ops.not_equal(ops.expand_dims(segments, 2), ops.expand_dims(of_keys, 1))
    return ops.expand_dims(ops.cast(differs, "float32"), 1)
