"""Losses and hits of predictions, and their sums and means, in which training and evaluation count."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import keras
from keras import ops

from firth.layers.elements.types import Tensor
from firth.layers.losses import cross_entropy, likeliest

LossesOf = Callable[[Tensor, Tensor], Iterable[Tensor]]


class Predictions(NamedTuple):
    """Losses and hits of each prediction of a batch, for one loss of an objective.

    Attributes:
        losses: float32 [batch, count], in nats.
        correct: float32 [batch, count], 1 where the likeliest answer is the right one.
        weights: float32 [batch, count], 0 where nothing is predicted.
    """

    losses: Any
    correct: Any
    weights: Any


class EpochMetrics:
    """The mean loss and the accuracy of each loss of an objective, over all predictions so far.

    A mean over all predictions is exact, which one over batches is not where they predict differently many.

    Example:

    >>> import numpy as np
    >>> metrics = EpochMetrics({"lm": 2.0})
    >>> for losses in ([[1.0, 9.0]], [[2.0, 3.0]]):
    ...     weights = np.array([[1.0, 0.0]]) if losses[0][1] == 9.0 else np.array([[1.0, 1.0]])
    ...     metrics.update({"lm": Predictions(np.array(losses), np.array([[1.0, 1.0]]), weights)})
    >>> {name: float(value) for name, value in metrics.results().items()}
    {'loss': 4.0, 'lm_loss': 2.0, 'lm_accuracy': 1.0}
    """

    def __init__(self, losses: Mapping[str, float]) -> None:
        self.losses = dict(losses)
        self._means = {
            name: (keras.metrics.Mean(f"{name}_loss"), keras.metrics.Mean(f"{name}_accuracy"))
            for name in self.losses
        }

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Keras's metrics, two for each loss."""
        return [metric for pair in self._means.values() for metric in pair]

    def update(self, predictions: Mapping[str, Predictions]) -> None:
        """Takes the predictions of one batch."""
        for name, (loss, accuracy) in self._means.items():
            made = predictions[name]
            loss.update_state(made.losses, sample_weight=made.weights)
            accuracy.update_state(made.correct, sample_weight=made.weights)

    def results(self) -> dict[str, Any]:
        """Returns `loss`, the weighted sum of all, and `<loss>_loss` (nats) and `<loss>_accuracy` of each."""
        total = sum(weight * self._means[name][0].result() for name, weight in self.losses.items())
        return {"loss": total, **{metric.name: metric.result() for metric in self.metrics}}


def example_sums(predictions: Mapping[str, Predictions]) -> dict[str, Tensor]:
    """Returns the sums of one batch, for each example, from which every loss and metric follows.

    The loss of a batch is `sum(<loss>_loss_sum) / sum(<loss>_weight_sum)`, 0 where the weight is 0. Summed
    over any number of batches they give the exact mean, which an average of batch means does not.

    Args:
        predictions: Predictions by name of the loss, as a pre-training model returns them.

    Returns:
        For each loss `<loss>_loss_sum` (nats), `<loss>_correct_sum` and `<loss>_weight_sum`, float32 [batch].

    Example:

    >>> import numpy as np
    >>> made = Predictions(np.array([[2.0, 9.0]]), np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]))
    >>> {name: float(value[0]) for name, value in example_sums({"lm": made}).items()}
    {'lm_loss_sum': 2.0, 'lm_correct_sum': 1.0, 'lm_weight_sum': 1.0}
    """
    sums = {}
    for name, made in predictions.items():
        sums[f"{name}_loss_sum"] = ops.sum(made.losses * made.weights, axis=-1)
        sums[f"{name}_correct_sum"] = ops.sum(made.correct * made.weights, axis=-1)
        sums[f"{name}_weight_sum"] = ops.sum(made.weights, axis=-1)
    return sums


def total_loss(sums: Mapping[str, Tensor], losses: Mapping[str, float]) -> dict[str, Tensor]:
    """Returns the mean losses of a batch from its `example_sums`: `loss`, and `<loss>_loss` of each.

    Each is a float32 scalar, in nats; `loss` is the weighted sum of the others, each 0 where nothing is
    predicted.

    Args:
        sums: Sums of each example, float32 [batch], as `example_sums` returns them.
        losses: Weights by name, as an objective's `losses`.

    Example:

    >>> import numpy as np
    >>> one, two = np.array([1.0], "float32"), np.array([2.0], "float32")
    >>> sums = {"mlm_loss_sum": two, "mlm_weight_sum": one, "nsp_loss_sum": one, "nsp_weight_sum": one * 0}
    >>> {name: float(value) for name, value in total_loss(sums, {"mlm": 1.0, "nsp": 1.0}).items()}
    {'loss': 2.0, 'mlm_loss': 2.0, 'nsp_loss': 0.0}
    """
    means = {f"{name}_loss": _mean(sums[f"{name}_loss_sum"], sums[f"{name}_weight_sum"]) for name in losses}
    return {"loss": sum(weight * means[f"{name}_loss"] for name, weight in losses.items()), **means}


def predictions_of_logits(
    logits: Tensor, labels: Tensor, weights: Tensor, z_loss: float = 0.0
) -> Predictions:
    """Returns the predictions that logits make.

    Args:
        logits: Float tensor [batch, count, classes].
        labels: Int tensor [batch, count].
        weights: Float tensor [batch, count].
        z_loss: Factor of the z-loss that is added to each loss; see `firth.layers.losses`.

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


def _mean(losses: Tensor, weights: Tensor) -> Tensor:
    # Dividing by 0 under a condition has no gradient on torch.
    total = ops.sum(weights)
    return ops.sum(losses) * ops.cast(total > 0, losses.dtype) / ops.maximum(total, 1e-9)
