"""Means over an epoch of what a pre-training model predicts, for Keras's own `fit` and `evaluate`."""

from collections.abc import Mapping
from typing import Any

import keras

from firth.models.outputs.predictions import Predictions


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
