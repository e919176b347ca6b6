"""Norms over the last axis whose gradients pass over memory as rarely as they can."""

from collections.abc import Callable
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def layer_norm(inputs: Tensor, gamma: Tensor, beta: Tensor | None, epsilon: float) -> Tensor:
    """Returns `gamma * (x - mean) / sqrt(variance + epsilon) + beta` (Ba et al. 2016, section 3.1).

    Args:
        inputs: float32 [..., width].
        gamma: float32 [width].
        beta: float32 [width], or None.

    Returns:
        float32 [..., width].

    Example:

    >>> import numpy as np
    >>> [round(float(y), 3) for y in layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), 1e-12)[0]]
    [-1.0, 1.0]
    """

    def run(inputs: Tensor, gamma: Tensor, *beta: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        centred = inputs - ops.mean(inputs, axis=-1, keepdims=True)
        inverse = ops.rsqrt(ops.mean(ops.square(centred), axis=-1, keepdims=True) + epsilon)
        normal = centred * inverse
        outputs = normal * gamma
        for part in beta:
            outputs = outputs + part

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            for_gamma, by_normal, scaled = _shared(upstream, normal, gamma)
            mean = ops.mean(scaled, axis=-1, keepdims=True)
            for_inputs = (scaled - mean - normal * by_normal) * inverse
            return for_inputs, for_gamma, *(_sum_rows(upstream) for _ in beta)

        return outputs, gradient

    return custom_gradient(run)(inputs, gamma, *([] if beta is None else [beta]))


def rms_norm(inputs: Tensor, scale: Tensor, epsilon: float) -> Tensor:
    """Returns `scale * x / sqrt(mean(x^2) + epsilon)` (Zhang and Sennrich 2019, section 4).

    Args:
        inputs: float32 [..., width].
        scale: float32 [width].

    Returns:
        float32 [..., width].

    Example:

    >>> import numpy as np
    >>> [round(float(y), 3) for y in rms_norm(np.array([[3.0, 4.0]]), np.ones(2), 1e-12)[0]]
    [0.849, 1.131]
    """

    def run(inputs: Tensor, scale: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        inverse = ops.rsqrt(ops.mean(ops.square(inputs), axis=-1, keepdims=True) + epsilon)
        normal = inputs * inverse

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            for_scale, by_normal, scaled = _shared(upstream, normal, scale)
            return (scaled - normal * by_normal) * inverse, for_scale

        return normal * scale, gradient

    return custom_gradient(run)(inputs, scale)


def _shared(upstream: Tensor, normal: Tensor, gain: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the gain's gradient, each row's mean of `upstream * gain * normal`, and `upstream * gain`."""
    product = upstream * normal
    width = gain.shape[0]
    by_normal = ops.matmul(product, ops.reshape(gain / width, (width, 1)))
    return _sum_rows(product), by_normal, upstream * gain


def _sum_rows(values: Tensor) -> Tensor:
    """Returns the sum over all axes but the last; as a product it is faster than as a sum on a CPU."""
    # A GPU may round what is multiplied to TF32, by TensorFlow's and JAX's defaults, as in all other products
    # of gradients. A float32 sum takes a CPU up to 1.7 times as long (4,096 rows of 768).
    flat = ops.reshape(values, (-1, values.shape[-1]))
    return ops.matmul(ops.ones((1, ops.shape(flat)[0]), dtype=flat.dtype), flat)[0]
