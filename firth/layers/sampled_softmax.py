"""Cross-entropy over a large vocabulary from a sample of it."""

import math
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient, gather_rows
from firth.layers.elements.noise import batch_keys, random_words, unit_floats
from firth.layers.elements.types import Tensor


def sampled_cross_entropy(
    hidden: Tensor,
    table: Tensor,
    bias: Tensor,
    labels: Tensor,
    negatives: int,
    seed: int | keras.random.SeedGenerator,
) -> tuple[Tensor, Tensor]:
    """Returns an estimate of the cross-entropy of `softmax(hidden @ table.T + bias)`.

    The sum of exponentials over the vocabulary is estimated from candidates, each divided by how often it is
    expected in the sample (Bengio and Senecal 2003, "Quick Training of Probabilistic Neural Nets by
    Importance Sampling"; Jean et al. 2014, "On Using Very Large Target Vocabulary for Neural Machine
    Translation", section 3):

        Z = exp(o_label) + sum over candidates c other than the label of exp(o_c) / expected count of c

    so that the mean of `Z` over samples is the sum over the vocabulary. All rows of a batch share one sample,
    see `draw_candidates`. With as many candidates as words the result is exact.

    Args:
        hidden: Float tensor [count, width].
        table: Float tensor [vocabulary, width], in the order of descending frequency. Its gradient is dense,
            and zero but for the rows of candidates and labels.
        bias: Float tensor [vocabulary].
        labels: Int tensor [count].
        negatives: Candidates, at most as many as the vocabulary has words.
        seed: An int or a `keras.random.SeedGenerator`.

    Returns:
        losses: float32 [count], in nats.
        correct: float32 [count], 1 where no candidate's logit is above the label's.

    Example:

    >>> import numpy as np
    >>> hidden, table = np.array([[0.0, 2.0]], "float32"), np.eye(2, dtype="float32")
    >>> losses, _ = sampled_cross_entropy(hidden, table, np.zeros(2, "float32"), np.array([1]), 2, seed=1)
    >>> round(float(losses[0]), 4)
    0.1269
    """
    labels = ops.cast(labels, "int32")
    candidates, log_expected = draw_candidates(negatives, table.shape[0], seed)
    # Rows of both are taken at once: each time makes a gradient of the table's size.
    taken = ops.concatenate([candidates, labels])
    rows = ops.cast(gather_rows(table, taken), hidden.dtype)
    biases = ops.cast(gather_rows(ops.expand_dims(bias, -1), taken), "float32")[:, 0]
    of_labels = ops.cast(rows[negatives:], "float32")
    at_label = ops.sum(ops.cast(hidden, "float32") * of_labels, axis=-1) + biases[negatives:]
    hits = ops.equal(ops.expand_dims(labels, 1), ops.expand_dims(candidates, 0))
    return _cross_entropy(hidden, rows[:negatives], biases[:negatives], at_label, hits, log_expected)


def draw_candidates(
    negatives: int, vocabulary: int, seed: int | keras.random.SeedGenerator
) -> tuple[Tensor, Tensor]:
    """Returns candidates in proportion to `1 / rank`, and how often each is expected among them.

    With words ordered by descending frequency this is close to their distribution (Zipf's law). Of the most
    frequent words, which the sample would hold more than once, each is a candidate for certain. The rest of
    the sample is spread evenly over the log-uniform distribution of the other words,
    `P(i) ~ log(i + 2) - log(i + 1)`, one draw from each of as many parts of equal mass: that makes repeats
    rare and the estimate steadier than independent draws.

    Returns:
        int32 [negatives], ids of words, and float32 [negatives], the logarithm of each one's expected count.

    Example:

    >>> ids, log_expected = draw_candidates(negatives=5, vocabulary=5, seed=1)
    >>> [int(each) for each in ids], [float(each) for each in log_expected]
    ([0, 1, 2, 3, 4], [0.0, 0.0, 0.0, 0.0, 0.0])
    """
    if negatives > vocabulary:
        raise ValueError(f"there are {vocabulary} words, too few for negatives={negatives}")
    certain = count_certain(negatives, vocabulary)
    head = ops.arange(certain, dtype="int32")
    drawn = negatives - certain
    if not drawn:
        return head, ops.zeros((certain,), "float32")
    mass = math.log((vocabulary + 1) / (certain + 1))
    parts = ops.arange(drawn, dtype="float32")
    quantiles = (parts + unit_floats(random_words(batch_keys(seed), drawn))[0]) / drawn
    tail = ops.cast(ops.floor((certain + 1) * ops.exp(quantiles * mass)), "int32") - 1
    tail = ops.clip(tail, certain, vocabulary - 1)
    expected = ops.log1p(1.0 / (ops.cast(tail, "float32") + 1.0)) * (drawn / mass)
    return ops.concatenate([head, tail]), ops.concatenate([ops.zeros((certain,)), ops.log(expected)])


def count_certain(negatives: int, vocabulary: int) -> int:
    """Returns how many of the first words are candidates for certain.

    Example:

    >>> count_certain(8192, 300_000)
    1266
    """

    def expected(first: int) -> float:
        share = math.log1p(1 / (first + 1)) / math.log((vocabulary + 1) / (first + 1))
        return (negatives - first) * share

    low, high = 0, negatives
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if expected(middle) <= 1.0 else (middle + 1, high)
    return low


def _cross_entropy(
    hidden: Tensor, rows: Tensor, biases: Tensor, at_label: Tensor, hits: Tensor, log_expected: Tensor
) -> tuple[Tensor, Tensor]:
    @custom_gradient
    def run(
        hidden: Tensor, rows: Tensor, biases: Tensor, at_label: Tensor
    ) -> tuple[Tensor, Callable[..., Any]]:
        logits = ops.cast(ops.matmul(hidden, ops.transpose(rows)), "float32") + biases
        logits = ops.where(hits, -1e30, logits)
        correct = ops.cast(at_label >= ops.max(logits, axis=-1), "float32")
        logits = logits - log_expected
        top = ops.maximum(ops.max(logits, axis=-1), at_label)
        shares = ops.exp(logits - ops.expand_dims(top, -1))
        of_label = ops.exp(at_label - top)
        total = ops.sum(shares, axis=-1) + of_label

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            scale = upstream[0] / total
            slope = shares * ops.expand_dims(scale, -1)
            narrow = ops.cast(slope, hidden.dtype)
            return (
                ops.matmul(narrow, rows),
                ops.matmul(ops.transpose(narrow), hidden),
                ops.sum(slope, axis=0),
                of_label * scale - upstream[0],
            )

        return ops.stack([ops.log(total) + top - at_label, correct]), gradient

    made = run(hidden, rows, biases, at_label)
    return made[0], made[1]
