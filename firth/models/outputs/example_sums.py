"""What training and evaluation sum up: losses, hits and weights of each example."""

from collections.abc import Mapping

from keras import ops

from firth.layers.elements.types import Tensor
from firth.models.outputs.predictions import Predictions


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


def _mean(losses: Tensor, weights: Tensor) -> Tensor:
    # Dividing by 0 under a condition has no gradient on torch.
    total = ops.sum(weights)
    return ops.sum(losses) * ops.cast(total > 0, losses.dtype) / ops.maximum(total, 1e-9)
