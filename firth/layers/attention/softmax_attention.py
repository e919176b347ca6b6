"""Softmax attention over all keys at once, or over the blocks of keys in which one is seen."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.attention.block_sparse import BLOCK, read_blocks, suits_blocks
from firth.layers.attention.fused_kernel import read_by_kernel, suits_kernel
from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.types import Tensor

# Queries of a block of causal attention, and most blocks: smaller or more of them cost more than they spare,
# as `benchmarks.attention` measures.
CAUSAL_BLOCK, CAUSAL_BLOCKS = 256, 4


def read_heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: Dropout,
    training: bool | None = None,
    causal: bool = False,
    prefix_length: int = 0,
    scale: float = 1.0,
    local: bool = False,
) -> Tensor:
    """Returns the mean of values that each query sees.

    Args:
        query: Float tensor [group, batch, heads, length, head_width], scaled unless `scale` does it.
        key: Float tensor [batch, heads, prefix_length + keys, head_width].
        bias: Float32 tensor [batch or 1, 1 or group * heads, length, prefix_length + keys], or None.
        causal: Python bool, whether the bias hides every key after its query.
        local: Python bool, whether the bias hides all keys that are not near their query.
    """
    if suits_kernel(query, bias, dropout.acts(training)):
        return read_by_kernel(query, key, value, bias, scale)
    length, keys = query.shape[-2], key.shape[-2]
    if (causal or local) and bias is not None and length == keys and suits_blocks(length, keys):
        count = query.shape[-2] // BLOCK

        def dropped(shares: Tensor, parts: tuple[Tensor, Tensor, Tensor]) -> Tensor:
            examples, of_queries, of_keys = parts
            return dropout(shares, (examples, of_queries * count + of_keys), training=training)

        return read_blocks(query, key, value, ops.cast(bias, "float32"), dropped)
    # Without a group, four axes are faster than five.
    query = ops.squeeze(query, 0) if query.shape[0] == 1 else query
    length = length or 0
    if bias is None or not causal or length <= CAUSAL_BLOCK:
        return _read(query, key, value, bias, dropout, training, scale)
    # Scores that causality forbids are made only within a block of queries.
    size = max(CAUSAL_BLOCK, -(-length // CAUSAL_BLOCKS))
    ends = [*range(size, length, size), length]
    read = []
    for block, end in zip(ops.split(query, ends[:-1], axis=-2), ends):
        seen = slice(prefix_length + end)
        own = bias[:, :, end - block.shape[-2] : end, seen]
        read.append(_read(block, key[:, :, seen], value[:, :, seen], own, dropout, training))
    return ops.concatenate(read, axis=-2)


def weigh_values(scores: Tensor, values: Tensor, factors: Tensor | None = None) -> Tensor:
    """Returns `(softmax(scores) * factors) values` (Vaswani et al. 2017, section 3.2.1, with dropout).

    On TensorFlow the gradient is written out. The number that the softmax takes off is the sum of `upstream *
    result` over the width of a head instead of one over all keys (Dao et al. 2022, "FlashAttention", section
    3.1 and appendix B.2), and factors are not kept for it.

    Args:
        scores: float32 [..., rows, keys], with as many axes as values; those before the last two may be more.
        values: Float tensor [..., keys, head width], whose dtype the products have.

    Returns:
        Float tensor [..., rows, head width].

    Example:

    >>> import numpy as np
    >>> np.array(weigh_values(np.zeros((1, 2), "float32"), np.array([[1.0], [3.0]], "float32"))).tolist()
    [[2.0]]
    """
    if keras.backend.backend() != "tensorflow" or len(scores.shape) != len(values.shape):
        return ops.matmul(_dropped(ops.softmax(scores), values, factors), values)

    # The factors do not depend on trained weights, so they need no gradient and are not an input.
    def run(scores: Tensor, values: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        shares = ops.softmax(scores)
        kept = _dropped(shares, values, factors)
        result = ops.matmul(kept, values)

        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            for_values = ops.matmul(_transposed(kept), upstream)
            for_kept = ops.matmul(upstream, _transposed(values))
            products = ops.cast(upstream, "float32") * ops.cast(result, "float32")
            taken_off = shares * ops.sum(products, axis=-1, keepdims=True)
            for_scores = ops.cast(for_kept, "float32") * ops.cast(kept, "float32") - taken_off
            return for_scores, for_values

        return result, gradient

    return custom_gradient(run)(scores, values)


def group_bias(bias: Tensor, query: Tensor) -> Tensor:
    """Splits the axis of a bias's heads as the queries have it.

    Args:
        bias: Float32 tensor [batch or 1, 1 or group * heads, rows, keys].
        query: Float tensor [batch, heads, rows, head_width], or with the axis of the groups before these.
    """
    if len(query.shape) == 4 or bias.shape[1] == 1:
        return bias
    batch, _, length, keys = ops.shape(bias)
    bias = ops.reshape(bias, (batch, query.shape[0], query.shape[2], length, keys))
    return ops.transpose(bias, (1, 0, 2, 3, 4))


def times(queries: Tensor, keys: Tensor) -> Tensor:
    """Returns the products of every query with every key.

    Args:
        queries: Float tensor [..., batch, heads, rows, head width].
        keys: Float tensor [batch, heads, keys, head width].

    Returns:
        A float tensor [..., batch, heads, rows, keys].
    """
    return ops.matmul(queries, ops.transpose(keys, (0, 1, 3, 2)))


def attention_scores(query: Tensor, key: Tensor, bias: Tensor | None, scale: float = 1.0) -> Tensor:
    """Returns the scores before the softmax, float32 [..., batch, heads, rows, keys].

    Args:
        query: Float tensor [batch, heads, rows, head_width], or with the axis of the groups before these.
        key: Float tensor [batch, heads, keys, head_width].
        bias: Float32 tensor [batch or 1, 1 or group * heads, rows, keys], or None.
        scale: Factor of the products of queries and keys.
    """
    scores = ops.cast(times(query, key), "float32")
    if scale != 1.0:
        scores = ops.multiply(scores, scale)
    return scores if bias is None else ops.add(scores, group_bias(ops.cast(bias, "float32"), query))


def _read(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: Dropout,
    training: bool | None,
    scale: float = 1.0,
) -> Tensor:
    scores = attention_scores(query, key, bias, scale)
    return weigh_values(scores, value, dropout.factors(ops.shape(scores), training=training))


def _dropped(shares: Tensor, values: Tensor, factors: Tensor | None) -> Tensor:
    shares = ops.cast(shares, values.dtype)
    return shares if factors is None else shares * factors


def _transposed(matrices: Tensor) -> Tensor:
    axes = len(matrices.shape)
    return ops.transpose(matrices, (*range(axes - 2), axes - 1, axes - 2))
