"""Taking rows of a table, with a gradient that is dense and already summed."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def gather_rows(table: Tensor, row_ids: Tensor) -> Tensor:
    """Returns `table[row_ids]`, rows of a matrix.

    The gradient for `table` is a dense matrix in which the rows that were taken several times are summed.
    TensorFlow's own is a list of rows with repeats, which optimizers that square it get wrong, and which
    is turned into a longer list still when the table is used a second time, as a tied projection does.

    Args:
        table: Float tensor [rows, width].

    Returns:
        Float tensor of shape `row_ids.shape + [width]`.

    Example:

    >>> import numpy as np
    >>> np.array(gather_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0, 1]))).tolist()
    [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    if keras.backend.backend() == "jax":
        # Its own gradient is dense and summed, and is made again with what it reads.
        return ops.take(table, row_ids, axis=0)

    @custom_gradient
    def gather(table: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def gradient(upstream: Tensor) -> Tensor:
            rows = ops.reshape(upstream, (-1, table.shape[-1]))
            return ops.segment_sum(rows, ops.reshape(row_ids, (-1,)), num_segments=ops.shape(table)[0])

        return ops.take(table, row_ids, axis=0), gradient

    return gather(table)


def gather_tokens(hidden: Tensor, positions: Tensor) -> Tensor:
    """Returns the hidden states at some positions of each example.

    Args:
        hidden: Float tensor [batch, length, width].
        positions: Int tensor [batch, count], each at least 0 and below `length`.

    Returns:
        Float tensor [batch, count, width].

    Example:

    >>> import numpy as np
    >>> hidden = np.arange(6.0).reshape(2, 3, 1)
    >>> np.array(gather_tokens(hidden, np.array([[2, 0], [1, 1]])))[..., 0].tolist()
    [[2.0, 0.0], [4.0, 4.0]]
    """
    hidden = ops.convert_to_tensor(hidden)
    batch, length, width = ops.shape(hidden)
    firsts = ops.expand_dims(ops.arange(batch, dtype="int32") * length, 1)
    rows = ops.reshape(hidden, (-1, width))
    return gather_rows(rows, ops.cast(positions, "int32") + firsts)
