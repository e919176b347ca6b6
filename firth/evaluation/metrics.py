"""Metrics as pure functions of sums over examples.

Sums add up, averages do not: a perplexity averaged over batches depends on how the split was cut, one made
of a split's sums does not. Where nothing was predicted (a weight of zero) there is no evidence, and each
metric takes the worst value that it can have, so that it fails its threshold: infinity for perplexities,
zero for accuracies.
"""

import math
from collections.abc import Callable, Mapping

Sums = Mapping[str, float]


def perplexity(loss_sum: float, weight_sum: float) -> float:
    """Returns exp(loss_sum / weight_sum): how many pieces the model hesitates between, on average.

    Args:
        loss_sum: Sum of cross entropies over all predictions, in nats.
        weight_sum: Their number.

    Example:

    >>> round(perplexity(3 * math.log(8), 3), 6)
    8.0
    >>> perplexity(0.0, 0.0)
    inf
    """
    return _exp(loss_sum / weight_sum) if weight_sum > 0 else math.inf


def accuracy(correct_sum: float, weight_sum: float) -> float:
    """Returns the share of predictions that were right, zero where there were none.

    Example:

    >>> accuracy(3.0, 4.0)
    0.75
    """
    return correct_sum / weight_sum if weight_sum > 0 else 0.0


def perplexity_ratio(loss_sum: float, other_loss_sum: float, weight_sum: float) -> float:
    """Returns one perplexity over another on the same predictions, even where both would overflow.

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


def mlm_perplexity(sums: Sums) -> float:
    """Returns the perplexity of the masked LM over its masked pieces."""
    return perplexity(sums["mlm_loss_sum"], sums["mlm_weight_sum"])


def mlm_accuracy(sums: Sums) -> float:
    """Returns the share of masked pieces whose likeliest prediction is right."""
    return accuracy(sums["mlm_correct_sum"], sums["mlm_weight_sum"])


def nsp_accuracy(sums: Sums) -> float:
    """Returns the share of pairs that are rightly told to follow one another or not."""
    return accuracy(sums["nsp_correct_sum"], sums["nsp_weight_sum"])


def unigram_perplexity(sums: Sums) -> float:
    """Returns the perplexity of the training split's unigram distribution on the same masked pieces."""
    return perplexity(sums["unigram_loss_sum"], sums["mlm_weight_sum"])


def mlm_perplexity_over_unigram(sums: Sums) -> float:
    """Returns the masked LM's perplexity over the unigram one: below 1, the model uses the context."""
    return perplexity_ratio(sums["mlm_loss_sum"], sums["unigram_loss_sum"], sums["mlm_weight_sum"])


METRICS: dict[str, Callable[[Sums], float]] = {
    "mlm_perplexity": mlm_perplexity,
    "mlm_accuracy": mlm_accuracy,
    "nsp_accuracy": nsp_accuracy,
    "unigram_perplexity": unigram_perplexity,
    "mlm_perplexity_over_unigram": mlm_perplexity_over_unigram,
}
