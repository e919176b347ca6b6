"""Arrays compared some rows at a time, so that what is compared takes no memory of its own."""

from collections.abc import Iterator

import numpy as np

from firth.interop.hugging_face.rules import Array

_NUMBERS = 2**22


def all_finite(array: Array) -> bool:
    """Returns whether there are finite numbers alone.

    Example:

    >>> all_finite(np.array([1.0, np.inf]))
    False
    """
    return all(np.isfinite(each).all() for each in _parts(array))


def holds_exactly(cast: Array, array: Array) -> bool:
    """Returns whether an array has the numbers of another one, of whose dtype it is not.

    Example:

    >>> numbers = np.array([0.1, 1.0])
    >>> holds_exactly(numbers.astype("float32"), numbers)
    False
    """
    if cast is array:
        return True
    pairs = zip(_parts(cast), _parts(array), strict=True)
    return all(np.array_equal(one.astype(other.dtype, copy=False), other) for one, other in pairs)


def _parts(array: Array) -> Iterator[Array]:
    rows = max(1, _NUMBERS // max(1, array[:1].size)) if array.ndim else 1
    return (
        (array[start : start + rows] for start in range(0, len(array), rows)) if array.ndim else iter([array])
    )
