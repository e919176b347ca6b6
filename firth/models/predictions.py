"""What a model says of the tokens that its objective asks for: losses and hits, never whole logits."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from keras import ops

from firth.layers.elements.types import Tensor
from firth.layers.losses.cross_entropy import cross_entropy, likeliest

LossesOf = Callable[[Tensor, Tensor], Iterable[Tensor]]


class Predictions(NamedTuple):
    """One loss of an objective, for each prediction of a batch.

    Attributes:
        losses: float32 [batch, count], in nats.
        correct: float32 [batch, count], 1 where the likeliest answer is the right one.
        weights: float32 [batch, count], 0 where nothing is predicted.
    """

    losses: Any
    correct: Any
    weights: Any


def predictions_of_logits(
    logits: Tensor, labels: Tensor, weights: Tensor, z_loss: float = 0.0
) -> Predictions:
    """Returns the predictions that logits make.

    Args:
        logits: Float tensor [batch, count, classes].
        labels: Int tensor [batch, count].
        weights: Float tensor [batch, count].
        z_loss: Factor of the z-loss that is added to each loss; see `firth.layers.losses.cross_entropy`.

    Example:

    >>> import numpy as np
    >>> made = predictions_of_logits(np.array([[[0.0, 2.0]]]), np.array([[1]]), np.array([[1.0]]))
    >>> round(float(made.losses[0, 0]), 4), float(made.correct[0, 0])
    (0.1269, 1.0)
    """
    weights = ops.cast(weights, "float32")
    flat = ops.reshape(logits, (-1, ops.shape(logits)[-1]))
    losses = ops.reshape(cross_entropy(flat, ops.reshape(labels, (-1,)), z_loss), ops.shape(weights))
    hits = ops.equal(likeliest(logits), ops.cast(labels, "int32"))
    return Predictions(losses, ops.cast(hits, "float32"), weights)


def predictions_of_numbers(numbers: Tensor, labels: Tensor, weights: Tensor) -> Predictions:
    """Returns the predictions that numbers make: squared errors, and no hits.

    Args:
        numbers: Float tensor [batch, count, 1].
        labels: Float tensor [batch, count].
        weights: Float tensor [batch, count].

    Example:

    >>> import numpy as np
    >>> made = predictions_of_numbers(np.array([[[3.0]]]), np.array([[1.0]]), np.array([[1.0]]))
    >>> float(made.losses[0, 0])
    4.0
    """
    errors = ops.cast(ops.squeeze(numbers, -1), "float32") - ops.cast(labels, "float32")
    return Predictions(ops.square(errors), ops.zeros_like(errors), ops.cast(weights, "float32"))


def predictions_of_losses(losses_of: LossesOf, labels: Tensor, weights: Tensor) -> Predictions:
    """Returns the predictions of a loss that reads them one after another, such as `chunked_cross_entropy`.

    Args:
        losses_of: Function from the labels, int [batch * count], and their weights, float32 [batch * count],
            to losses and hits of the same shape.
        labels: Int tensor [batch, count].
        weights: Float tensor [batch, count].
    """
    weights = ops.cast(weights, "float32")
    made = losses_of(ops.reshape(labels, (-1,)), ops.reshape(weights, (-1,)))
    losses, correct = (ops.reshape(each, ops.shape(weights)) for each in made)
    return Predictions(losses, correct, weights)
