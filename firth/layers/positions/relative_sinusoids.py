"""Distances as fixed sines and cosines."""

import numpy as np
from keras import ops

from firth.layers.elements.types import Tensor


def relative_sinusoids(length: Tensor | int, width: int) -> Tensor:
    """Returns a vector for each distance between two tokens of a row, in both directions.

    Sines of all frequencies, then cosines: `sin(d / 10000 ** (2i / width))` in column i (Dai et al. 2019,
    "Transformer-XL", section 3.3, whose order of columns differs from that of Vaswani et al. 2017).

    Returns:
        float32 [2 length, width]; row r is the distance `length - r`, the query's place less the key's.

    Example:

    >>> tuple(relative_sinusoids(3, width=4).shape)
    (6, 4)
    """
    if width % 2:
        raise ValueError(f"relative_sinusoids: `width` must be even. Received: width={width}")
    distances = ops.cast(length - ops.arange(2 * length, dtype="int32"), "float32")
    frequencies = 10_000.0 ** (np.arange(width // 2) * (-2.0 / width))
    angles = ops.expand_dims(distances, 1) * ops.cast(frequencies, "float32")
    return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=1)
