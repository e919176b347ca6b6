"""Cross-entropy over a vocabulary, over all of it or over a sample."""

import math
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient, gather_rows
from firth.layers.elements.noise import batch_keys, random_words, unit_floats
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
    return _sampled_losses(hidden, rows[:negatives], biases[:negatives], at_label, hits, log_expected)


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


def _sampled_losses(
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


def with_z_loss(log_totals: Tensor, factor: float) -> Tensor:
    """Returns `z + factor * z ** 2` (Chowdhery et al. 2022, "PaLM", section 5; Zoph et al. 2022, "ST-MoE").

    Returns:
        float32 [count].
    """
    return log_totals + factor * ops.square(log_totals) if factor else log_totals


def z_loss_slopes(log_totals: Tensor, factor: float) -> Any:
    """Returns the derivative of `with_z_loss`: float32 [count], or 1.0 without a factor."""
    return 1.0 + 2.0 * factor * log_totals if factor else 1.0
