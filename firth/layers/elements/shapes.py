"""Shapes of which a size may be unknown until a graph runs."""

from keras import ops

from firth.layers.elements.types import Shape, Tensor


def reshaped(tensor: Tensor, shape: Shape) -> Tensor:
    """Returns a tensor in another shape, as `keras.ops.reshape` does.

    A size that is a tensor is left to the reshape where it is the only one: in a graph, putting a shape
    together takes longer than reshaping a small tensor.

    Example:

    >>> import numpy as np
    >>> tuple(reshaped(np.zeros((2, 6)), (2, 3, 2)).shape)
    (2, 3, 2)
    """
    known = [size if isinstance(size, int) else -1 for size in shape]
    return ops.reshape(tensor, shape if known.count(-1) > 1 else known)
