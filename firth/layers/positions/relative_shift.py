"""Scores by distance turned into scores by place."""

from collections.abc import Callable
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def relative_shift(scores: Tensor) -> Tensor:
    """Returns scores of every key, given those of every distance.

    `y[i, j] = x[i, rows - (i - j)]`, without a table of indices: after the first `rows` numbers of a
    matrix, rows that are read one number shorter than they are move by one place each (Dai et al. 2019,
    "Transformer-XL", appendix B). The gradient is written out, because TensorFlow's own of the slices takes
    ten times as long on a CPU.

    Args:
        scores: Float tensor [batch, heads, rows, rows + keys], of all tokens of a row [batch, heads, length,
            2 length]. Column c holds the distance `rows - c`, the query's place less the key's, both counted
            from the first one there is; the first column is never read.

    Returns:
        Float tensor [batch, heads, rows, keys].

    Example:

    >>> import numpy as np
    >>> np.array(relative_shift(np.array([[[[2, 1, 0, -1], [2, 1, 0, -1]]]])))[0, 0].tolist()
    [[0, -1], [1, 0]]
    """
    scores = ops.convert_to_tensor(scores)
    batch, heads, length, columns = ops.shape(scores)
    keys = columns - length
    rows = (batch * heads, length, columns - 1)

    @custom_gradient
    def shift(scores: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def gradient(upstream: Tensor) -> Tensor:
            upstream = ops.reshape(upstream, (batch * heads, length, keys))
            unread = ops.zeros((batch * heads, length, length - 1), upstream.dtype)
            numbers = ops.reshape(ops.concatenate([upstream, unread], axis=2), (batch * heads, -1))
            first = ops.zeros((batch * heads, length), upstream.dtype)
            numbers = ops.concatenate([first, numbers], axis=1)
            return ops.reshape(numbers, (batch, heads, length, columns))

        numbers = ops.reshape(scores, (batch * heads, length * columns))
        shifted = ops.reshape(numbers[:, length:], rows)[:, :, :keys]
        return ops.reshape(shifted, (batch, heads, length, keys)), gradient

    return shift(scores)


def relative_shift_at(scores: Tensor, positions: Tensor) -> Tensor:
    """Returns the scores of every key for queries at some places only.

    `y[m, j] = x[m, length - (positions[m] - j)]`. Both directions are gathers, none a scatter.

    Args:
        scores: Float tensor [batch, heads, count, 2 length], columns as in `relative_shift`.
        positions: Int tensor [batch, count], each at least 0 and below `length`.

    Returns:
        Float tensor [batch, heads, count, length].

    Example:

    >>> import numpy as np
    >>> np.array(relative_shift_at(np.array([[[[2.0, 1.0, 0.0, -1.0]]]]), np.array([[1]]))).tolist()
    [[[[1.0, 0.0]]]]
    """
    scores = ops.convert_to_tensor(scores)
    batch, heads, count, distances = ops.shape(scores)
    length = distances // 2

    # Places go in as floats: JAX lets a function with a gradient read nothing but its inputs again where
    # blocks are computed twice.
    @custom_gradient
    def take(scores: Tensor, places: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        # Column of the key at place 0, the left end of the columns that are read.
        left = length - ops.cast(places, "int32")[:, None, :, None]

        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            place = ops.arange(distances, dtype="int32") - left
            is_read = ops.logical_and(place >= 0, place < length)
            row = _rows(batch, heads, count)
            found = ops.take(ops.reshape(upstream, (-1,)), row * length + ops.clip(place, 0, length - 1))
            return ops.where(is_read, found, ops.zeros_like(found)), ops.zeros_like(places)

        columns = left + ops.arange(length, dtype="int32")
        read = ops.take(ops.reshape(scores, (-1,)), _rows(batch, heads, count) * distances + columns)
        return read, gradient

    return take(scores, ops.cast(positions, "float32"))


def _rows(batch: Any, heads: Any, count: Any) -> Tensor:
    return ops.reshape(ops.arange(batch * heads * count, dtype="int32"), (batch, heads, count, 1))
