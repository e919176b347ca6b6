"""Functions whose gradient is written out, on every backend."""

import functools

from keras import ops


def custom_gradient(function):
    """Returns `function` with the gradient that it brings itself.

    Over `keras.ops.custom_gradient` it smooths what differs between backends: how the upstream gradient is
    passed, and that TensorFlow takes tensors only, no variables.

    Args:
        function: Takes float tensors; returns a pair of its value and a function that turns the gradient for
            the value into one for each input, a tensor or a tuple of them. The value is a tensor or a tuple
            of them, and its gradient likewise; Keras knows no tuples here on torch.

    Example:

    >>> import numpy as np
    >>> double = custom_gradient(lambda x: (2.0 * x, lambda upstream: 2.0 * upstream))
    >>> float(double(np.array(3.0)))
    6.0
    """

    @ops.custom_gradient
    def differentiable(*inputs):
        value, gradient = function(*inputs)

        def backend_gradient(*args, upstream=None):
            if isinstance(value, tuple) and len(args) > 1:
                return gradient(args)
            return gradient(args[-1] if upstream is None else upstream)

        return value, backend_gradient

    @functools.wraps(function)
    def call(*inputs):
        return differentiable(*(_read(value) for value in inputs))

    return call


def _read(value):
    # Reshaping turns a variable into a tensor without a copy.
    return ops.reshape(value, ops.shape(value))
