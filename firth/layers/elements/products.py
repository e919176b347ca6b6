"""Products of matrices whose gradients need no transposed copy."""

from collections.abc import Callable
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def times_transposed(states: Tensor, kernel: Tensor) -> Tensor:
    """Returns `states kernel^T`; the gradient for `kernel` is made in its own layout, not turned around.

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
