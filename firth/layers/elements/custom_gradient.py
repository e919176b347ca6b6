"""Custom gradients on every backend, and the products and gathers that are made with them."""

import functools
import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.types import Tensor


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `function` with the gradient that it brings itself.

    It hides two differences of `keras.ops.custom_gradient` between backends: how the upstream gradient is
    passed, and that TensorFlow takes tensors only, no variables.

    A function that may be computed again in a backward pass reads all its tensors as inputs, and returns
    zeros for those that have no gradient: JAX lets no other tensor out of such a function.

    Args:
        function: Function that takes float tensors and returns a pair of its value and a function that turns
            the gradient for the value into one for each input, a tensor or a tuple of them. The value is a
            tensor or a tuple of them, and its gradient likewise.

    Example:

    >>> import numpy as np
    >>> double = custom_gradient(lambda x: (2.0 * x, lambda upstream: 2.0 * upstream))
    >>> float(double(np.array(3.0)))
    6.0
    """

    @ops.custom_gradient
    def differentiable(*inputs: Tensor) -> tuple[Any, Callable[..., Any]]:
        value, gradient = function(*inputs)

        def backend_gradient(*args: Any, upstream: Any = None) -> Any:
            if isinstance(value, tuple) and len(args) > 1:
                return gradient(args)
            return gradient(args[-1] if upstream is None else upstream)

        return value, backend_gradient

    @functools.wraps(function)
    def call(*inputs: Tensor) -> Any:
        tensors = [as_tensor(value) for value in inputs]
        return (
            _on_torch(function, tensors) if keras.backend.backend() == "torch" else differentiable(*tensors)
        )

    return call


def times_transposed(states: Tensor, kernel: Tensor) -> Tensor:
    """Returns `states kernel^T`; the gradient for `kernel` is made in its own layout, not transposed.

    Derived step by step it would be transposed, and the transpose of a whole vocabulary costs as much as a
    third of the projection.

    Args:
        states: Float tensor [rows, inputs].
        kernel: Float tensor [outputs, inputs].

    Returns:
        Float tensor [rows, outputs].

    Example:

    >>> import numpy as np
    >>> np.array(times_transposed(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))).tolist()
    [[11.0, 17.0]]
    """

    @custom_gradient
    def run(states: Tensor, kernel: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            return ops.matmul(upstream, kernel), ops.matmul(ops.transpose(upstream), states)

        return ops.matmul(states, ops.transpose(kernel)), gradient

    return run(states, kernel)


def times_rows(states: Tensor, table: Tensor, at_once: int | None = None) -> Tensor:
    """Returns `states table^T` without a gradient of its own, if asked in several products.

    TensorFlow multiplies few float32 states with some thousand rows in 0.6 of the time that it takes with all
    rows of a vocabulary at once, as it copies a matrix that is to be transposed (8 states, 50,257 rows of
    768); one state, or bfloat16, gains nothing.

    Args:
        states: Float tensor [count, width].
        table: Float tensor [rows, width] of the same dtype.

    Returns:
        Float tensor [count, rows].

    Example:

    >>> import numpy as np
    >>> table = np.array([[3.0], [4.0], [5.0]])
    >>> np.array(times_rows(np.array([[2.0]]), table, at_once=2)).tolist()
    [[6.0, 8.0, 10.0]]
    """
    ends = list(range(at_once, table.shape[0], at_once)) if at_once else []
    if not ends:
        return ops.matmul(states, ops.transpose(table))
    parts = ops.split(table, ends, axis=0)
    return ops.concatenate([ops.matmul(states, ops.transpose(part)) for part in parts], axis=1)


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
        # Its own gradient is dense and summed.
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


def as_tensor(value: Tensor) -> Tensor:
    """Returns the value of a variable, or a tensor as it is."""
    if ops.is_tensor(value) and not hasattr(value, "assign"):
        return value
    # Reshaping turns a variable into a tensor without a copy.
    return ops.reshape(value, ops.shape(value))


def _on_torch(function: Callable[..., Any], inputs: list[Tensor]) -> Any:
    """Hands a tuple of values through as one tensor, because Keras knows no tuples here on torch."""
    made: list[tuple[Any, ...]] = []

    @ops.custom_gradient
    def joined(*inputs: Tensor) -> tuple[Any, Callable[..., Any]]:
        value, gradient = function(*inputs)
        if not isinstance(value, tuple):
            return value, lambda *args, upstream=None: gradient(args[-1] if upstream is None else upstream)
        made.extend((tuple(each.shape), each.dtype) for each in value)

        def gradient_of_parts(*args: Any, upstream: Any = None) -> Any:
            return gradient(_apart(args[-1] if upstream is None else upstream, made))

        flat = [ops.cast(ops.reshape(each, (-1,)), "float32") for each in value]
        return ops.concatenate(flat), gradient_of_parts

    value = joined(*inputs)
    return _apart(value, made) if made else value


def _apart(flat: Tensor, made: list[tuple[Any, ...]]) -> tuple[Tensor, ...]:
    ends = np.cumsum([math.prod(shape) for shape, _ in made])[:-1].tolist()
    parts = ops.split(flat, ends)
    return tuple(ops.cast(ops.reshape(part, shape), dtype) for part, (shape, dtype) in zip(parts, made))
