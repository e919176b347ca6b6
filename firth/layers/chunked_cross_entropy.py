"""Vocabulary projection and cross-entropy in one, a slice of the vocabulary at a time."""

import keras
from keras import ops

from firth.layers.custom_gradient import custom_gradient

# Logits that are held at once: a quarter of a gigabyte in float32.
CHUNK_ELEMENTS = 2**26
# Where the number of rows is only known when the graph runs.
_ASSUMED_ROWS = 4096


def chunked_cross_entropy(hidden, table, bias, labels, chunk_elements: int = CHUNK_ELEMENTS):
    """Returns the cross-entropy of `softmax(hidden @ table.T + bias)` without ever holding all logits.

    The vocabulary is taken in slices, one after another. The forward pass keeps a running maximum and sum of
    exponentials of each row (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"); the
    backward pass makes the logits of each slice anew. Slices of the vocabulary, not of the rows, because a
    slice of the table's gradient is then finished at once, and what is summed over slices is only as large
    as `hidden`.

    Matmuls run in the dtype of `hidden`, everything else in float32.

    Args:
        hidden: Float tensor [count, width].
        table: Float tensor [vocabulary, width].
        bias: Float tensor [vocabulary], or None.
        labels: Int tensor [count].
        chunk_elements: Most logits that are held at once.

    Returns:
        losses: float32 [count], in nats.
        correct: float32 [count], 1 where no logit is above the label's.

    Example:

    >>> import numpy as np
    >>> hidden, table = np.array([[0.0, 2.0]], "float32"), np.eye(2, dtype="float32")
    >>> losses, correct = chunked_cross_entropy(hidden, table, None, np.array([1]))
    >>> round(float(losses[0]), 4), float(correct[0])
    (0.1269, 1.0)
    """
    labels = ops.cast(labels, "int32")
    slices = _slices(hidden.shape[0], table.shape[0], chunk_elements)

    def run(hidden, table, bias):
        top, total = _normalizer(hidden, table, bias, slices)
        log_total = top + ops.log(total)
        at_label = _label_logits(hidden, table, bias, labels)
        correct = ops.cast(ops.greater_equal(at_label, top), "float32")

        def gradient(upstream):
            return _gradients(hidden, table, bias, labels, log_total, upstream[0], slices)

        return ops.stack([log_total - at_label, correct]), gradient

    if bias is None:

        @custom_gradient
        def without_bias(hidden, table):
            value, gradient = run(hidden, table, None)
            return value, lambda upstream: gradient(upstream)[:2]

        made = without_bias(hidden, table)
    else:
        made = custom_gradient(run)(hidden, table, bias)
    return made[0], made[1]


def _slices(rows: int | None, vocabulary: int, chunk_elements: int) -> list[tuple[int, int]]:
    """Returns first row and number of rows of each slice of the table."""
    size = max(1, min(vocabulary, chunk_elements // max(rows or _ASSUMED_ROWS, 1)))
    return [(start, min(size, vocabulary - start)) for start in range(0, vocabulary, size)]


def _logits(hidden, table, bias, start, size):
    part = ops.slice(table, (start, 0), (size, table.shape[1]))
    logits = ops.cast(ops.matmul(hidden, ops.transpose(ops.cast(part, hidden.dtype))), "float32")
    if bias is not None:
        logits = logits + ops.cast(ops.slice(bias, (start,), (size,)), "float32")
    return logits, part


def _label_logits(hidden, table, bias, labels):
    rows = ops.cast(ops.take(table, labels, axis=0), hidden.dtype)
    # A sum over the width in float32, as far as the compute dtype has it, like that of the matmul.
    logits = ops.sum(ops.cast(hidden, "float32") * ops.cast(rows, "float32"), axis=-1)
    logits = ops.cast(ops.cast(logits, hidden.dtype), "float32")
    if bias is not None:
        logits = logits + ops.cast(ops.take(bias, labels, axis=0), "float32")
    return logits


def _after(start: int, value):
    """Returns `start`, and makes whoever slices there wait for `value`, which is never negative.

    Slices do not depend on one another, and a scheduler that runs them side by side would hold all logits.
    """
    return start + ops.cast(ops.less(ops.min(value), -1.0), "int32")


def _normalizer(hidden, table, bias, slices):
    """Returns the largest logit of each row, and the sum of the exponentials of all above it."""
    rows = ops.shape(hidden)[0]
    top, total = ops.full((rows,), -1e30, dtype="float32"), ops.zeros((rows,), dtype="float32")
    for start, size in slices:
        logits, _ = _logits(hidden, table, bias, _after(start, total), size)
        higher = ops.maximum(top, ops.max(logits, axis=-1))
        exponentials = ops.sum(ops.exp(logits - ops.expand_dims(higher, -1)), axis=-1)
        total = total * ops.exp(top - higher) + exponentials
        top = higher
    return top, total


def _gradients(hidden, table, bias, labels, log_total, upstream, slices):
    upstream = ops.cast(upstream, "float32")
    scale = ops.expand_dims(upstream, -1)
    for_hidden = -scale * ops.cast(ops.take(table, labels, axis=0), "float32")
    for_table, for_bias, done = [], [], ops.zeros((1,), dtype="float32")
    for start, size in slices:
        logits, part = _logits(hidden, table, bias, _after(start, done), size)
        slope = ops.exp(logits - ops.expand_dims(log_total, -1)) * scale
        if bias is not None:
            for_bias.append(ops.sum(slope, axis=0))
        slope = ops.cast(slope, hidden.dtype)
        for_hidden = for_hidden + ops.cast(ops.matmul(slope, ops.cast(part, hidden.dtype)), "float32")
        for_table.append(ops.cast(ops.matmul(ops.transpose(slope), hidden), "float32"))
        done = ops.square(for_hidden[:1, 0]) + ops.square(for_table[-1][:1, 0])
    vocabulary = table.shape[0]
    taken = ops.segment_sum(scale * ops.cast(hidden, "float32"), labels, num_segments=vocabulary)
    made = [
        ops.cast(for_hidden, hidden.dtype),
        ops.cast(_join(for_table) - taken, keras.backend.standardize_dtype(table.dtype)),
    ]
    if bias is not None:
        taken = ops.segment_sum(upstream, labels, num_segments=vocabulary)
        made.append(ops.cast(_join(for_bias) - taken, keras.backend.standardize_dtype(bias.dtype)))
    return tuple(made)


def _join(parts):
    return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis=0)
