"""DeBERTa's attention: content and relative positions attend to one another."""

from typing import Any

import keras
from keras import ops

from firth.layers.attention.attention import Attention
from firth.layers.attention.attention_bias import Block, RowBias, states_from
from firth.layers.attention.row_chunked_attention import read_by_rows
from firth.layers.attention.softmax_attention import times
from firth.layers.elements.layer import mask_of, with_mask
from firth.layers.elements.types import Tensor, check_own_keys
from firth.layers.positions.relative_shift import relative_shift


@keras.saving.register_keras_serializable(package="firth")
class DisentangledAttention(Attention):
    """Self-attention whose scores add up three terms: content, and two of content and relative position.

    `(q_i k_j + q_i K(r_ij) + k_j Q(r_ij)) / sqrt(3 d)`, with r_ij the embedding of the distance from i to j,
    and K and Q the same projections that make keys k and queries q of hidden states (He et al. 2020,
    "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", section 3.1; the reference code's
    `share_att_key`, as in version 3). The paper's third term reads the distance from j to i; the reference
    code, and so this layer, reads that from i to j in both.

    Scores by distance are computed once for each distance and then shifted into place, so that no index is
    read for pairs of tokens (see `relative_shift`).

    Args:
        width: Width of the hidden states.
        heads: Attention heads; they divide the width where `head_width` is None.
        key_value_heads: None, or as many as `heads`: keys are not shared.
        head_width: Width of a head; width over heads where it is None.
        scaled: Whether scores are divided by the root of three times the head's width.
        dropout: Share of the attention probabilities that is dropped in training.
        biases: Whether projections have biases.
        cross: Must be False, because the attention reads one sequence and no encoder.
        initializer_stddev: Standard deviation of the truncated normal that the kernels start from.
        output_stddev: Standard deviation of the output projection's kernel; `initializer_stddev` where it is
            None.
        scaled_initializer: Whether kernels start as T5's do; see `Attention`.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: as `Attention` does, and if keys are to be shared or `cross` is True.

    Example:

    >>> import numpy as np
    >>> layer = DisentangledAttention(width=8, heads=2)
    >>> tuple(layer(np.ones((1, 3, 8)), np.zeros((1, 1, 3, 3)), np.ones((7, 8))).shape)
    (1, 3, 8)
    """

    _terms = 3
    # A prefix has no distances.
    _takes_prefix = False

    def _check(self) -> None:
        super()._check()
        check_own_keys("DisentangledAttention", self.heads, self.key_value_heads)
        if self.cross:
            raise ValueError("DisentangledAttention: `cross` must be False. Received: cross=True")

    # There is neither an encoder to read nor a cache.
    def call(  # type: ignore[override]
        self,
        hidden: Tensor,
        bias: Tensor | RowBias | None = None,
        positions: Tensor | None = None,
        content: Tensor | None = None,
        causal: bool = False,
        mask: Tensor | None = None,
        hidden_mask: Tensor | None = None,
        content_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
            bias: Float32 tensor [batch or 1, heads or 1, length, length], added to the scores; see
                `attention_bias`. None adds nothing. A `RowBias` for rows so long that scores are held of
                some queries at a time.
            positions: Float tensor [2 length + 1, width], embeddings of the distances from `length` down; see
                `DisentangledPositions`.
            content: Float tensor [batch, length, width] that keys and values are made of; `hidden` itself
                where it is None.
            causal: Python bool, whether `bias` hides every key after its query.
            mask: Bool tensor [batch, length], False on tokens that nobody sees, which Keras hands on; None
                for none.
            hidden_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            content_mask: Bool tensor [batch, length], that of a content.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Raises:
            ValueError: without `positions`.
        """
        if positions is None:
            raise ValueError("DisentangledAttention: it needs `positions`. Received: positions=None")
        mask = mask_of(mask, hidden_mask if content is None else content_mask)
        bias, hidden = with_mask(bias, mask), ops.cast(hidden, self.compute_dtype)
        query, key, value = (
            self._project(hidden, None, None, training) if content is None else self._apart(hidden, content)
        )
        tables = self._tables(positions)
        if isinstance(bias, RowBias):
            read = read_by_rows(
                query, key, value, bias, self.dropout, training, terms=_relative_of_rows, of_terms=tables
            )
            return self._join_heads(read, hidden)
        relative = _relative_scores(query[0], key, *tables)
        bias = relative if bias is None else ops.add(relative, ops.cast(bias, "float32"))
        return self._attend(hidden, query, key, value, bias, training, causal)

    def call_with_cache(self, *arguments: Any, **keywords: Any) -> tuple[Tensor, Tensor]:
        """Raises `NotImplementedError`: relative positions are read in whole rows.

        Args:
            *arguments: Arguments of `Attention.call_with_cache`; not read.
            **keywords: Keywords of `Attention.call_with_cache`; not read.

        Raises:
            NotImplementedError: at every call.
        """
        raise NotImplementedError("disentangled positions are read in whole rows; there is no cache")

    def _tables(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the queries and the keys of all distances, [1, heads, 2 length + 1, head_width] each."""
        joined = 2 * self.heads * self.head_width
        bias = None if self.bias is None else self.bias[:joined]
        positions = ops.cast(ops.expand_dims(positions, 0), self.compute_dtype)
        of_query, of_key = ops.unstack(
            self._heads(positions, self.kernel[:, :joined], bias, "query", "key"), 2
        )
        return of_query, of_key


def _relative_scores(query: Tensor, key: Tensor, of_query: Tensor, of_key: Tensor) -> Tensor:
    """Returns the second and the third term of some queries and keys, float32 [batch, heads, rows, keys].

    The tables are those of the distances from the number of rows down to that of keys below zero, where both
    are counted from the first query and the first key.
    """
    # Less the last: the columns that `relative_shift` wants.
    content_to_position = relative_shift(times(query, of_key[:, :, :-1]))
    position_to_content = _of_keys(key, of_query[:, :, 1:], query.shape[2])
    return ops.cast(content_to_position, "float32") + ops.cast(position_to_content, "float32")


def _of_keys(key: Tensor, of_query: Tensor, rows: int | None) -> Tensor:
    """Returns the third term, for which keys are in blocks of as many as there are queries.

    A block has twice as many distances to the queries as there are of these; all keys together have as many
    more as there are keys, which is too many to be held for each key.
    """
    batch, heads, count, width = ops.shape(key)
    if rows is None:
        # The number is known only when a graph runs: of whole rows, which have as many keys.
        rows, blocks, padding = count, 1, 0
    else:
        blocks = -(-count // rows)
        padding = blocks * rows - count
    if padding:
        key, of_query = (ops.pad(each, ((0, 0), (0, 0), (0, padding), (0, 0))) for each in (key, of_query))
    key = ops.reshape(key, (batch, heads, blocks, rows, width))
    table = ops.reshape(of_query, (1, heads, blocks + 1, rows, width))
    near = ops.concatenate([table[:, :, :-1], table[:, :, 1:]], axis=3)
    # With keys instead of queries, distances change their sign, and so their order.
    products = ops.matmul(key, ops.transpose(ops.flip(near, axis=3), (0, 1, 2, 4, 3)))
    found = relative_shift(ops.reshape(products, (batch, heads * blocks, rows, 2 * rows)))
    found = ops.reshape(found, (batch, heads, blocks * rows, rows))
    return ops.transpose(found[:, :, :count], (0, 1, 3, 2))


def _relative_of_rows(query: Tensor, key: Tensor, block: Block, tables: tuple[Tensor, ...]) -> Tensor:
    """Returns the same of the queries of a block."""
    (begin, first), (rows, count) = block
    length = (tables[0].shape[2] - 1) // 2
    # Row r of a table holds the distance `length - r`.
    near = (states_from(each, length - rows - begin + first, rows + count + 1) for each in tables)
    return _relative_scores(query, states_from(key, first, count), *near)
