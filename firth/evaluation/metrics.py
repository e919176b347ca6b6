"""Metrics as pure functions of sums over examples.

Sums add up, averages do not: a perplexity averaged over batches depends on how the split was cut, one made
of a split's sums does not. If nothing was predicted (a weight of zero), each
metric takes the worst value that it can have, so that it fails its threshold: infinity for perplexities and
squared errors, zero for accuracies.
"""

import functools
import math
from collections.abc import Callable, Mapping

from firth.features import (
    BYTES_SUM,
    TEXT_LOSS_SUM,
    TEXT_WEIGHT_SUM,
    UNIGRAM_LOSS_SUM,
    is_over_vocabulary,
)

Sums = Mapping[str, float]


def perplexity(loss_sum: float, weight_sum: float) -> float:
    """Returns exp(loss_sum / weight_sum): the number of pieces that the model hesitates between, on average.

    Example:

    >>> round(perplexity(3 * math.log(8), 3), 6)
    8.0
    >>> perplexity(0.0, 0.0)
    inf
    """
    return _exp(loss_sum / weight_sum) if weight_sum > 0 else math.inf


def accuracy(correct_sum: float, weight_sum: float) -> float:
    """Returns the share of predictions that were right; zero without predictions.

    Example:

    >>> accuracy(3.0, 4.0)
    0.75
    """
    return correct_sum / weight_sum if weight_sum > 0 else 0.0


def perplexity_ratio(loss_sum: float, other_loss_sum: float, weight_sum: float) -> float:
    """Returns one perplexity over another on the same predictions, even if both would overflow.

    Example:

    >>> round(perplexity_ratio(math.log(50), math.log(200), 1.0), 6)
    0.25
    """
    return perplexity(loss_sum - other_loss_sum, weight_sum)


def _exp(exponent: float) -> float:
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf


def bits_per_byte(loss_sum: float, bytes_sum: float) -> float:
    """Returns the bits that a model needs for each byte of the text that it predicts.

    Example:

    >>> round(bits_per_byte(8 * math.log(2), 4), 6)
    2.0
    """
    return loss_sum / math.log(2) / bytes_sum if bytes_sum > 0 else math.inf


def metrics_of(losses: Mapping[str, int | None]) -> dict[str, Callable[[Sums], float]]:
    """Returns the metrics of a model by name, each a function of the sums over a split.

    There is a perplexity of each loss over the vocabulary and an accuracy of every loss; of a loss of one
    answer, which is that of a number, there is the mean squared error. If the main loss
    runs over the vocabulary, there are also, of the tokens of the text (no sentinel, no end of a
    document, no unknown word), its perplexity, that of the training split's unigram distribution on the same
    tokens, the one over the other, and bits per byte.

    Args:
        losses: The losses' numbers of answers by name, None for the vocabulary, the main loss first
            (`recipe.goal.loss_classes`).

    Example:

    >>> list(metrics_of({"mlm": None, "nsp": 2}))[:3], list(metrics_of({"value": 1}))
    (['mlm_perplexity', 'mlm_accuracy', 'nsp_accuracy'], ['value_squared_error'])
    """
    metrics: dict[str, Callable[[Sums], float]] = {}
    for loss, classes in losses.items():
        if classes == 1:
            metrics[f"{loss}_squared_error"] = functools.partial(_squared_error, loss)
            continue
        if classes is None:
            metrics[f"{loss}_perplexity"] = functools.partial(_perplexity, loss)
        metrics[f"{loss}_accuracy"] = functools.partial(_accuracy, loss)
    return {**metrics, **(_TEXT_METRICS if is_over_vocabulary(losses) else {})}


def _perplexity(loss: str, sums: Sums) -> float:
    return perplexity(sums[f"{loss}_loss_sum"], sums[f"{loss}_weight_sum"])


def _squared_error(loss: str, sums: Sums) -> float:
    weight = sums[f"{loss}_weight_sum"]
    return sums[f"{loss}_loss_sum"] / weight if weight > 0 else math.inf


def _accuracy(loss: str, sums: Sums) -> float:
    return accuracy(sums[f"{loss}_correct_sum"], sums[f"{loss}_weight_sum"])


_TEXT_METRICS: dict[str, Callable[[Sums], float]] = {
    "text_perplexity": lambda sums: perplexity(sums[TEXT_LOSS_SUM], sums[TEXT_WEIGHT_SUM]),
    "unigram_perplexity": lambda sums: perplexity(sums[UNIGRAM_LOSS_SUM], sums[TEXT_WEIGHT_SUM]),
    "perplexity_over_unigram": lambda sums: perplexity_ratio(
        sums[TEXT_LOSS_SUM], sums[UNIGRAM_LOSS_SUM], sums[TEXT_WEIGHT_SUM]
    ),
    "bits_per_byte": lambda sums: bits_per_byte(sums[TEXT_LOSS_SUM], sums[BYTES_SUM]),
}
