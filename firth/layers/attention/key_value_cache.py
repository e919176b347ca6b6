"""Caches of keys and values of tokens that have been read; each row has its own place."""

from collections.abc import Callable

from keras import ops

from firth.layers.elements.types import Tensor

# Keys and values, [batch, key_value_heads, length, head_width] each.
KeysValues = tuple[Tensor, Tensor]
# A function that puts tokens into a cache, as `with_tokens` does.
Write = Callable[[Tensor, Tensor, Tensor | int], Tensor]


def places_from(index: Tensor | int, count: Tensor | int) -> Tensor:
    """Returns the places of some tokens in a row, int32 [batch, count], or [1, count] where rows agree.

    Args:
        index: Place of the first one, an int, an int scalar or int [batch].

    Example:

    >>> import numpy as np
    >>> np.array(places_from(np.array([0, 4]), 3)).tolist()
    [[0, 1, 2], [4, 5, 6]]
    """
    first = ops.reshape(ops.cast(index, "int32"), (-1, 1))
    return first + ops.expand_dims(ops.arange(count, dtype="int32"), 0)


def values_at(rows: Tensor, places: Tensor) -> Tensor:
    """Returns the values at some places of each row, [batch, count].

    Args:
        rows: Tensor [batch, length].
        places: int32 [batch or 1, count], each below the length.

    Example:

    >>> import numpy as np
    >>> np.array(values_at(np.array([[5, 6, 7], [8, 9, 10]]), np.array([[1, 2]]))).tolist()
    [[6, 7], [9, 10]]
    """
    batch, length = ops.shape(rows)
    starts = ops.expand_dims(ops.arange(batch, dtype="int32") * length, 1)
    return ops.take(ops.reshape(rows, (-1,)), starts + places)


def with_tokens(cache: Tensor, tokens: Tensor, index: Tensor | int) -> Tensor:
    """Returns a cache in which the vectors of some tokens of each row are new ones.

    It is a scatter of whole vectors, which copies the cache in TensorFlow; `firth.generation` has one that
    does not.

    Args:
        cache: Float tensor [batch, heads, length, head_width].
        tokens: Float tensor [batch, heads, count, head_width].
        index: Place of the first one in each row: an int, an int scalar or int [batch]. All places must be
            below the length.

    Example:

    >>> import numpy as np
    >>> cache, tokens = np.zeros((2, 1, 3, 1)), np.ones((2, 1, 1, 1))
    >>> np.array(with_tokens(cache, tokens, np.array([0, 2])))[:, 0, :, 0].tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    batch, heads, length, width = ops.shape(cache)
    places = ops.expand_dims(places_from(index, ops.shape(tokens)[2]), 1)
    starts = ops.reshape(ops.arange(batch * heads, dtype="int32") * length, (batch, heads, 1))
    rows = ops.reshape(cache, (batch * heads * length, width))
    places = ops.reshape(starts + places, (-1, 1))
    written = ops.scatter_update(rows, places, ops.reshape(ops.cast(tokens, cache.dtype), (-1, width)))
    return ops.reshape(written, (batch, heads, length, width))
