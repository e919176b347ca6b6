"""Types of the arguments of layers, and checks whose errors repeat the received value."""

import numbers
from typing import Any, TypeAlias

import keras
import numpy as np
from keras import ops

# A tensor of the backend, a symbolic one, or an array that becomes one.
Tensor: TypeAlias = Any
# The length of each axis, an int, or None where it is not known before the call.
Shape: TypeAlias = tuple[Any, ...]
# The source of a layer's random numbers; see `firth.layers.elements.seeds`.
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


def check_positive(layer: str, **values: int) -> None:
    """Raises `ValueError` unless every value is an int of 1 or more.

    Example:

    >>> check_positive("Pooler", width=0)
    Traceback (most recent call last):
    ValueError: Pooler: `width` must be an int of 1 or more. Received: width=0
    """
    for name, value in values.items():
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{layer}: `{name}` must be an int of 1 or more. Received: {name}={value!r}")


def check_heads(layer: str, width: int, heads: int) -> None:
    """Raises `ValueError` unless `heads` divides `width`."""
    if width % heads:
        raise ValueError(f"{layer}: `heads` must divide `width`. Received: heads={heads}, width={width}")


def check_width(layer: str, width: int, received_shape: Shape) -> None:
    """Raises `ValueError` unless the last axis of the received shape is `width`."""
    if received_shape[-1] != width:
        raise ValueError(
            f"{layer}: the last axis of the input must be `width`. "
            f"Received: width={width}, input shape {tuple(received_shape)}"
        )


def check_groups(layer: str, heads: int, key_value_heads: int) -> None:
    """Raises `ValueError` unless `key_value_heads` divides `heads`."""
    if heads % key_value_heads:
        raise ValueError(
            f"{layer}: `key_value_heads` must divide `heads`. "
            f"Received: key_value_heads={key_value_heads}, heads={heads}"
        )


def check_own_keys(layer: str, heads: int, key_value_heads: int | None) -> None:
    """Raises `ValueError` if several query heads share a head of keys and values."""
    if key_value_heads not in (None, heads):
        raise ValueError(
            f"{layer}: `key_value_heads` must be None or equal `heads`. "
            f"Received: key_value_heads={key_value_heads}, heads={heads}"
        )


def check_positions(layer: str, position_ids: Tensor, **length: int) -> None:
    """Raises `ValueError` for positions beyond their table, where their values are known.

    JAX would return NaN. Rows may be longer than the table, for positions start again with each document;
    within a compiled function nothing is known of their values.

    Args:
        position_ids: int32 [batch, length].

    Example:

    >>> check_positions("Heads", np.array([[0, 1, 2]]), length=2)
    Traceback (most recent call last):
    ValueError: Heads: positions must be below the length of the table. Received: position 2 in rows of 3 \
tokens, length=2
    """
    try:
        largest = int(np.max(ops.convert_to_numpy(position_ids), initial=0))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return
    for name, rows in length.items():
        if largest >= rows:
            raise ValueError(
                f"{layer}: positions must be below the length of the table. Received: position {largest} "
                f"in rows of {position_ids.shape[1]} tokens, {name}={rows}"
            )
