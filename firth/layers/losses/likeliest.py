"""The likeliest class of each row."""

import keras
from keras import ops

from firth.layers.elements.types import Tensor


def likeliest(logits: Tensor) -> Tensor:
    """Returns the place of the largest value on the last axis, the first of equals.

    On TensorFlow `keras.ops.argmax` passes over the values six times, to tell -0.0 from 0.0
    too; `top_k` of one passes twice at most.

    Args:
        logits: Float tensor [..., classes].

    Returns:
        int32 [...].

    Example:

    >>> import numpy as np
    >>> np.array(likeliest(np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 0.0]]))).tolist()
    [1, 0]
    """
    if keras.backend.backend() == "tensorflow":
        return ops.cast(ops.top_k(logits, 1, sorted=False)[1][..., 0], "int32")
    return ops.cast(ops.argmax(logits, axis=-1), "int32")


def pick(rows: Tensor, columns: Tensor) -> Tensor:
    """Returns one value of each row, a tensor [rows].

    Args:
        rows: Tensor [rows, columns].
        columns: Int tensor [rows], the column of each row.
    """
    return ops.take_along_axis(rows, ops.expand_dims(columns, -1), axis=-1)[:, 0]
