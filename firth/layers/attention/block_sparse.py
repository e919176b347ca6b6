"""Attention without the blocks of scores that the mask forbids, such as those between packed documents."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.types import Tensor

# Queries and keys of a block, and tokens from which on causal rows are read so. In shorter ones, and where
# half of the scores are not hidden anyway, it costs more than it spares, as `benchmarks.attention` measures.
BLOCK, FEWEST_TOKENS = 128, 512
# Between any score and the number that `attention_bias` adds for hidden keys.
_HIDDEN = -5e8


def suits_blocks(length: int | None, keys: int | None) -> bool:
    """Returns true if `read_blocks` can and should read rows of which a bias hides a lot.

    How many blocks there are is known when a step runs, so only TensorFlow can: JAX compiles fixed shapes.
    """
    return (
        keras.backend.backend() == "tensorflow"
        and length is not None
        and keys is not None
        and keys >= FEWEST_TOKENS
        and length % BLOCK == 0
        and keys % BLOCK == 0
    )


def read_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    dropout: Callable[[Tensor, tuple[Tensor, Tensor, Tensor]], Tensor],
    first: Tensor | int = 0,
) -> Tensor:
    """Returns `softmax(Q K^T + bias) V`, computed only in blocks in which a query sees a key.

    Where every query sees every key, these are all. The softmax runs over all blocks of a query together (as
    in Dao et al. 2022, "FlashAttention", section 3.1, but the blocks side by side).

    Args:
        query: Float tensor [group, batch, heads, length, head_width], scaled; see `Attention`.
        key: Float tensor [batch, heads, keys, head_width].
        value: Float tensor [batch, heads, keys, head_width], read with the weights of the keys.
        bias: Float32 tensor [batch or 1, 1 or group * heads, length, keys]; below -5e8 where a key is
            hidden. Every query should see a key.

    Example:

    >>> import numpy as np
    >>> query = np.ones((1, 2, 1, 128, 4), "float32")
    >>> bias = np.zeros((1, 1, 128, 128), "float32")
    >>> tuple(read_blocks(query, query[0], query[0], bias, dropout=lambda each, parts: each).shape)
    (1, 2, 1, 128, 4)
    """
    group, batch, heads, length, width = ops.shape(query)
    count, of_all_keys = length // BLOCK, ops.shape(key)[2] // BLOCK
    # [group, batch, heads, count, BLOCK, width] to [batch * count, heads, group * BLOCK, width].
    blocks = ops.reshape(query, (group, batch, heads, count, BLOCK, width))
    blocks = ops.transpose(blocks, (1, 3, 2, 0, 4, 5))
    blocks = ops.reshape(blocks, (batch * count, heads, group * BLOCK, width))
    rows, of_queries, of_keys = ops.nonzero(_needed(bias, batch, (count, of_all_keys), first))
    queries, keys = rows * count + of_queries, rows * of_all_keys + of_keys
    scores = ops.matmul(
        ops.take(blocks, queries, axis=0), ops.transpose(_taken(key, keys, of_all_keys), (0, 1, 3, 2))
    )
    scores = ops.reshape(ops.cast(scores, "float32"), (-1, heads, group, BLOCK, BLOCK))
    scores = ops.add(
        scores, _bias_blocks(bias, (rows, of_queries, of_keys), (group, heads), (count, of_all_keys))
    )
    most = ops.segment_max(ops.stop_gradient(ops.max(scores, axis=-1)), queries, sorted=True)
    shares = ops.exp(ops.subtract(scores, ops.expand_dims(ops.take(most, queries, axis=0), -1)))
    sums = ops.segment_sum(ops.sum(shares, axis=-1), queries, sorted=True)
    shares = dropout(ops.cast(shares, query.dtype), (rows, of_queries, of_keys))
    shares = ops.reshape(shares, (-1, heads, group * BLOCK, BLOCK))
    read = ops.cast(ops.matmul(shares, _taken(value, keys, of_all_keys)), "float32")
    read = ops.segment_sum(read, queries, sorted=True)
    read = ops.reshape(read, (batch, count, heads, group, BLOCK, width))
    read = ops.divide(read, ops.reshape(sums, (batch, count, heads, group, BLOCK, 1)))
    read = ops.transpose(ops.cast(read, query.dtype), (3, 0, 2, 1, 4, 5))
    return ops.reshape(read, (group, batch, heads, length, width))


def _needed(bias: Tensor, batch: Tensor | int, counts: tuple[Any, Any], first: Tensor | int) -> Tensor:
    """Returns bool [batch, *counts]: the blocks to be read, in any case those of a block with itself."""
    count, of_keys = counts
    blocks = ops.reshape(ops.max(bias, axis=1), (-1, count, BLOCK, of_keys, BLOCK))
    places = ops.expand_dims(ops.arange(count, dtype="int32") + first // BLOCK, 1)
    own = ops.equal(ops.arange(of_keys, dtype="int32"), places)
    needed = ops.logical_or(ops.max(blocks, axis=(2, 4)) > _HIDDEN, own)
    return ops.broadcast_to(needed, (batch, count, of_keys))


def _taken(states: Tensor, places: Tensor, count: Tensor | int) -> Tensor:
    """Returns some blocks of [batch, heads, length, width], by their places among [batch * count]."""
    batch, heads, _, width = ops.shape(states)
    blocks = ops.transpose(ops.reshape(states, (batch, heads, count, BLOCK, width)), (0, 2, 1, 3, 4))
    return ops.take(ops.reshape(blocks, (batch * count, heads, BLOCK, width)), places, axis=0)


def _bias_blocks(
    bias: Tensor, places: tuple[Tensor, Tensor, Tensor], shape: tuple[Any, Any], counts: tuple[Any, Any]
) -> Tensor:
    """Returns the blocks of the bias, [blocks, heads or 1, group or 1, BLOCK, BLOCK]."""
    rows, of_queries, of_keys = places
    group, heads = (1, 1) if bias.shape[1] == 1 else shape
    count, of_all_keys = counts
    blocks = ops.reshape(bias, (-1, group, heads, count, BLOCK, of_all_keys, BLOCK))
    blocks = ops.transpose(blocks, (0, 3, 5, 2, 1, 4, 6))
    blocks = ops.reshape(blocks, (-1, heads, group, BLOCK, BLOCK))
    if bias.shape[0] == 1:
        rows = ops.zeros_like(rows)
    return ops.take(blocks, (rows * count + of_queries) * of_all_keys + of_keys, axis=0)
