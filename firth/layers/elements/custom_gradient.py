"""Functions whose gradient is written out, on every backend."""

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

    Over `keras.ops.custom_gradient` it smooths what differs between backends: how the upstream gradient is
    passed, and that TensorFlow takes tensors only, no variables.

    What may be computed again in a backward pass reads all its tensors as inputs, and returns zeros for those
    that have no gradient: JAX lets no other tensor out of what it computes again.

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


def as_tensor(value: Tensor) -> Tensor:
    """Returns what a variable holds, or a tensor as it is."""
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
