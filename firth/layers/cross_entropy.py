"""Cross-entropy over a vocabulary, in few passes over the logits."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor


def cross_entropy(logits: Tensor, labels: Tensor, z_loss: float = 0.0) -> Tensor:
    """Returns `-log softmax(logits)[label]` of each row, in float32, with a z-loss if asked.

    Its gradient is written out: `softmax(logits) - one_hot(label)`, made from the probabilities that the
    forward pass has, with one value a row replaced in place of a one-hot matrix.

    Args:
        logits: Float tensor [count, classes].
        labels: Int tensor [count].
        z_loss: Factor of `z ** 2`, which is added to each loss; `z` is the logarithm of the sum of the
            logits' exponentials (Chowdhery et al. 2022, "PaLM", section 5).

    Returns:
        float32 [count], in nats.

    Example:

    >>> import numpy as np
    >>> [round(float(loss), 4) for loss in cross_entropy(np.zeros((1, 4)), np.array([2]))]
    [1.3863]
    """
    labels = ops.cast(labels, "int32")

    @custom_gradient
    def loss(logits: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        # The largest probability is one over the sum of the exponentials, so that sum needs no pass of its
        # own; and being at least 1 / classes, it never underflows as the label's probability can.
        probabilities = ops.softmax(logits)
        log_total = ops.max(logits, axis=-1) - ops.log(ops.max(probabilities, axis=-1))

        def gradient(upstream: Tensor) -> Tensor:
            of_totals = upstream * z_loss_slopes(log_total, z_loss)
            at_labels = pick(probabilities, labels) * of_totals - upstream
            rows = ops.arange(ops.shape(labels)[0], dtype="int32")
            slope = probabilities * ops.expand_dims(of_totals, -1)
            return ops.scatter_update(slope, ops.stack([rows, labels], axis=-1), at_labels)

        return with_z_loss(log_total, z_loss) - pick(logits, labels), gradient

    return loss(ops.cast(logits, "float32"))


def with_z_loss(log_totals: Tensor, factor: float) -> Tensor:
    """Returns `z + factor * z ** 2` (Chowdhery et al. 2022, "PaLM", section 5; Zoph et al. 2022, "ST-MoE").

    Returns:
        float32 [count].
    """
    return log_totals + factor * ops.square(log_totals) if factor else log_totals


def z_loss_slopes(log_totals: Tensor, factor: float) -> Any:
    """Returns the derivative of `with_z_loss`: float32 [count], or 1.0 without a factor."""
    return 1.0 + 2.0 * factor * log_totals if factor else 1.0


def likeliest(logits: Tensor) -> Tensor:
    """Returns the place of the largest value on the last axis, the first of equals.

    On TensorFlow `keras.ops.argmax` passes over the values six times, to tell -0.0 from 0.0
    too; `top_k` of one passes twice at most.

    Args:
        logits: Float tensor [..., classes].

    Returns:
        int32 [...].

    Example:

    >>> import numpy as np
    >>> np.array(likeliest(np.array([[0.0, 2.0, 2.0], [1.0, 0.0, 0.0]]))).tolist()
    [1, 0]
    """
    if keras.backend.backend() == "tensorflow":
        return ops.cast(ops.top_k(logits, 1, sorted=False)[1][..., 0], "int32")
    return ops.cast(ops.argmax(logits, axis=-1), "int32")


def pick(rows: Tensor, columns: Tensor) -> Tensor:
    """Returns one value of each row, a tensor [rows].

    Args:
        rows: Tensor [rows, columns].
        columns: Int tensor [rows], the column of each row.
    """
    return ops.take_along_axis(rows, ops.expand_dims(columns, -1), axis=-1)[:, 0]
