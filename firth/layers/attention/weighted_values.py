"""The weighted mean of values, with a gradient that passes over the scores as rarely as it can."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def attended(scores: Tensor, values: Tensor, factors: Tensor | None = None) -> Tensor:
    """Returns `(softmax(scores) * factors) values` (Vaswani et al. 2017, section 3.2.1, with dropout).

    On TensorFlow the gradient is written out. What the softmax takes off is the sum of `upstream * result`
    over the width of a head instead of one over all keys (Dao et al. 2022, "FlashAttention", section 3.1 and
    appendix B.2), and factors are not kept for it.

    Args:
        scores: float32 [..., rows, keys], with as many axes as values; those before the last two may be more.
        values: Float tensor [..., keys, head width], whose dtype the products have.

    Returns:
        Float tensor [..., rows, head width].

    Example:

    >>> import numpy as np
    >>> np.array(attended(np.zeros((1, 2), "float32"), np.array([[1.0], [3.0]], "float32"))).tolist()
    [[2.0]]
    """
    if keras.backend.backend() != "tensorflow" or len(scores.shape) != len(values.shape):
        return ops.matmul(_dropped(ops.softmax(scores), values, factors), values)

    # The factors do not depend on trained weights, so they need no gradient and are not an input.
    def run(scores: Tensor, values: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        shares = ops.softmax(scores)
        kept = _dropped(shares, values, factors)
        result = ops.matmul(kept, values)

        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            for_values = ops.matmul(_transposed(kept), upstream)
            for_kept = ops.matmul(upstream, _transposed(values))
            products = ops.cast(upstream, "float32") * ops.cast(result, "float32")
            taken_off = shares * ops.sum(products, axis=-1, keepdims=True)
            for_scores = ops.cast(for_kept, "float32") * ops.cast(kept, "float32") - taken_off
            return for_scores, for_values

        return result, gradient

    return custom_gradient(run)(scores, values)


def _dropped(shares: Tensor, values: Tensor, factors: Tensor | None) -> Tensor:
    shares = ops.cast(shares, values.dtype)
    return shares if factors is None else shares * factors


def _transposed(matrices: Tensor) -> Tensor:
    axes = len(matrices.shape)
    return ops.transpose(matrices, (*range(axes - 2), axes - 1, axes - 2))
