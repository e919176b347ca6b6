"""What the arguments of layers are, for annotations."""

from typing import Any, TypeAlias

import keras
from keras import ops

# A tensor of the backend, a symbolic one, or an array that becomes one.
Tensor: TypeAlias = Any
# The length of each axis, an int, or None where it is not known before the call.
Shape: TypeAlias = tuple[Any, ...]
# What a layer draws from; see `firth.layers.elements.seeds`.
Seed: TypeAlias = int | keras.random.SeedGenerator | None


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
