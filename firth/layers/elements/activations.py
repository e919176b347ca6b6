"""The activations that a recipe may name."""

import math
from collections.abc import Callable
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def gelu(inputs: Tensor) -> Tensor:
    """Returns `x * P(X <= x)` for a standard normal X (Hendrycks and Gimpel 2016, section 2).

    This is the exact function, by `erf`, computed in float32. Its gradient is written out, because the one
    derived step by step passes over memory more often.

    Example:

    >>> import numpy as np
    >>> [round(float(y), 4) for y in gelu(np.array([-1.0, 0.0, 1.0]))]
    [-0.1587, 0.0, 0.8413]
    """

    def share(x: Tensor) -> tuple[Tensor, Tensor]:
        below = 0.5 + 0.5 * ops.erf(x * math.sqrt(0.5))
        density = ops.exp(ops.square(x) * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
        return below, below + x * density

    return _times_share(inputs, share)


def gelu_approximate(inputs: Tensor) -> Tensor:
    """Returns the approximation of `gelu` by `tanh` (Hendrycks and Gimpel 2016, section 2).

    It is `x * sigmoid(v)` with `v = 2 * sqrt(2 / pi) * (x + 0.044715 * x ** 3)`, computed in float32. Its
    gradient is written out, as that of `gelu` is.

    Example:

    >>> import numpy as np
    >>> [round(float(y), 4) for y in gelu_approximate(np.array([-1.0, 0.0, 1.0]))]
    [-0.1588, 0.0, 0.8412]
    """

    def share(x: Tensor) -> tuple[Tensor, Tensor]:
        v = x * (_LINEAR + _CUBIC * ops.square(x))
        below = ops.sigmoid(v)
        # The derivative of v, times x, is 3 v - 2 _LINEAR x. Where it is infinite, its factor is 0.
        change = ops.clip(3.0 * v - (2.0 * _LINEAR) * x, -_HUGE, _HUGE)
        return below, below * (1.0 + (1.0 - below) * change)

    return _times_share(inputs, share)


def _times_share(inputs: Tensor, share: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Tensor:
    """Returns `x * share(x)`, computed in float32.

    The derivative is made in the forward pass, so that it alone is kept, instead of all that it is made of;
    a graph without a backward pass leaves it out.

    Args:
        share: Function that takes the inputs as float32 and returns the factor, and the derivative of the
            whole.
    """

    @custom_gradient
    def run(inputs: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        # Rounding to bfloat16 after each step would cost a CPU more than the two casts do.
        x = ops.cast(inputs, "float32")
        below, slope = share(x)

        def gradient(upstream: Tensor) -> Tensor:
            return ops.cast(ops.cast(upstream, "float32") * slope, inputs.dtype)

        return ops.cast(x * below, inputs.dtype), gradient

    return run(inputs)


_LINEAR = 2.0 * math.sqrt(2.0 / math.pi)
_CUBIC = 0.044715 * _LINEAR
_HUGE = 1e30

ACTIVATIONS = {"gelu": gelu, "gelu_approximate": gelu_approximate, "relu": ops.relu, "silu": ops.silu}


def get_activation(name: str) -> Callable[[Tensor], Tensor]:
    """Returns the activation of that name.

    Example:

    >>> get_activation("gelu") is gelu
    True
    """
    if name not in ACTIVATIONS:
        raise ValueError(f"`activation` must be one of {sorted(ACTIVATIONS)}. Received: activation={name!r}")
    return ACTIVATIONS[name]
