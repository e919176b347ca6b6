"""Attention probabilities of the layers that a model calls, kept on request."""

import contextlib
import contextvars
from collections.abc import Iterator

from keras import ops

from firth.layers.attention.attention_bias import RowBias
from firth.layers.attention.softmax_attention import attention_scores
from firth.layers.elements.types import Tensor

_kept: contextvars.ContextVar[list[Tensor] | None] = contextvars.ContextVar("kept", default=None)


@contextlib.contextmanager
def keep_probabilities() -> Iterator[list[Tensor]]:
    """Gives a list to which each `Attention` that is called in the context appends its probabilities.

    A layer that several blocks share appends once for each of them. Fused and blockwise paths, which never
    hold probabilities, compute their result as without this; the probabilities are computed next to it.

    Yields:
        A list of float32 [batch, heads, length, prefix_length + keys], in the order of the calls.

    Example:

    >>> import numpy as np
    >>> from firth.layers import Attention
    >>> with keep_probabilities() as kept:
    ...     _ = Attention(width=8, heads=2)(np.ones((1, 4, 8)))
    >>> np.array(kept[0]).shape, np.array(kept[0])[0, 0, 0].tolist()
    ((1, 2, 4, 4), [0.25, 0.25, 0.25, 0.25])
    """
    found: list[Tensor] = []
    token = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(token)


def keep(query: Tensor, key: Tensor, bias: Tensor | RowBias | None, scale: float) -> None:
    """Appends the probabilities of a layer to the list of the context; does nothing outside of one.

    Args:
        query: Float tensor [group, batch, heads, length, head_width], scaled unless `scale` does it.
        key: Float tensor [batch, heads, prefix_length + keys, head_width].
        bias: Bias of the scores, as `Attention` reads it.
        scale: Factor of the scores.

    Raises:
        NotImplementedError: for a `RowBias`, which rows of a known length above a bound have.
    """
    found = _kept.get()
    if found is None:
        return
    if isinstance(bias, RowBias):
        raise NotImplementedError("probabilities of rows so long that they are read in parts are not kept")
    found.append(attention_probabilities(query, key, bias, scale))


def attention_probabilities(
    query: Tensor, key: Tensor, bias: Tensor | None = None, scale: float = 1.0
) -> Tensor:
    """Returns the shares in which each query reads the keys.

    Args:
        query: Float tensor [group, batch, heads, length, head_width], scaled unless `scale` does it.
        key: Float tensor [batch, heads, keys, head_width].
        bias: Float32 tensor [batch or 1, 1 or group * heads, length, keys], or None.
        scale: Factor of the scores.

    Returns:
        float32 [batch, group * heads, length, keys], the heads in the order of the queries.
    """
    groups, batch, heads, length, _ = ops.shape(query)
    probabilities = ops.softmax(attention_scores(query, key, bias, scale))
    joined = ops.transpose(probabilities, (1, 0, 2, 3, 4))
    return ops.reshape(joined, (batch, groups * heads, length, ops.shape(key)[2]))
