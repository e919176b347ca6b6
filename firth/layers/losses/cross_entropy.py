"""Cross-entropy over a vocabulary, in few passes over the logits."""

from collections.abc import Callable
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor
from firth.layers.losses.likeliest import pick
from firth.layers.losses.z_loss import with_z_loss, z_loss_slopes


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
