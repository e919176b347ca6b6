"""Cross-entropy with its vocabulary projection, some rows at a time."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor
from firth.layers.losses import likeliest, pick, with_z_loss, z_loss_slopes
from firth.recipes.models.block_counts import MAX_LOGITS

# Most rows of a chunk where their number is unknown when the graph is made. They are padded to a whole chunk,
# and of a vocabulary of some tens of pieces MAX_LOGITS would let a million rows into one.
_MOST_UNKNOWN_ROWS = 4096


def chunked_cross_entropy(
    hidden: Tensor,
    table: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    weights: Tensor | None = None,
    training: bool = False,
    max_logits: int = MAX_LOGITS,
    z_loss: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Returns the cross-entropy of `softmax(hidden @ table.T + bias)` without holding all logits at once.

    Rows are taken in chunks, one after another; those of weight 0 are left out. In the forward pass of a
    training step the gradients of `sum(losses * weights)` are made chunk by chunk along with the losses, so
    that nothing is projected a second time. For other gradients the logits of each chunk are made anew.

    Matmuls run in the dtype of `hidden`, everything else in float32. Where all logits are few enough they are
    made and kept in one piece.

    Args:
        hidden: Float tensor [count, width].
        table: Float tensor [vocabulary, width].
        bias: Float tensor [vocabulary], or None.
        labels: Int tensor [count].
        weights: Float tensor [count], 0 where nothing is predicted; None for ones. They choose rows and tell
            what will be differentiated; losses are not multiplied by them.
        training: Whether gradients will follow.
        max_logits: Largest number of logits that are held at once; at least one row is.
        z_loss: Factor of the square of the logarithm of the softmax's sum, added to each loss; see
            `cross_entropy`.

    Returns:
        losses: float32 [count], in nats; 0 where the weight is.
        correct: float32 [count], 1 where the label is the likeliest, the first of equals; 0 where the weight
            is.

    Example:

    >>> import numpy as np
    >>> hidden, table = np.array([[0.0, 2.0]], "float32"), np.eye(2, dtype="float32")
    >>> losses, correct = chunked_cross_entropy(hidden, table, None, np.array([1]))
    >>> round(float(losses[0]), 4), float(correct[0])
    (0.1269, 1.0)
    """
    hidden, labels = ops.convert_to_tensor(hidden), ops.cast(labels, "int32")
    if weights is None:
        weights = ops.ones_like(labels, dtype="float32")
    weights = ops.stop_gradient(ops.cast(weights, "float32"))
    rows = _rows_of_chunk(hidden.shape[0], table.shape[0], max_logits)
    if rows == hidden.shape[0]:
        made = _in_one_piece(labels, weights, z_loss)
    else:
        made = _in_chunks(labels, weights, rows, training, z_loss)
    both = custom_gradient(made)(hidden, table, *([] if bias is None else [bias]))
    return both[0], both[1]


def _rows_of_chunk(count: int | None, vocabulary: int, max_logits: int) -> int:
    """Returns the number of rows of a chunk: all if they fit, otherwise chunks of nearly equal size."""
    most = max(max_logits // vocabulary, 1)
    if count is None:
        return min(most, _MOST_UNKNOWN_ROWS)
    chunks = -(-count // most)
    return -(-count // max(chunks, 1))


def _in_one_piece(labels: Tensor, weights: Tensor, z_loss: float) -> Callable[..., Any]:
    real = ops.cast(ops.greater(weights, 0.0), "float32")

    def run(hidden: Tensor, table: Tensor, *bias: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        losses, correct, of_totals = _predict(hidden, table, bias, labels, z_loss)

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            scales = upstream[0] * real
            slopes = _differentiate(hidden, table, bias, labels, losses, of_totals, scales)
            return _like(slopes, hidden, table, *bias)

        return ops.stack([losses * real, correct * real]), gradient

    return run


def _in_chunks(
    labels: Tensor, weights: Tensor, rows: int, training: bool, z_loss: float
) -> Callable[..., Any]:
    real = ops.cast(ops.greater(weights, 0.0), "float32")

    def run(hidden: Tensor, table: Tensor, *bias: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        order = _sort(weights, rows)
        of_rows = _Rows(order.take(hidden), order.take(labels), rows, order.chunks)
        scales = order.take_real(weights) if training else None
        result, slopes = _loop(of_rows, table, bias, scales, z_loss)

        def of_any_sum(upstream: Tensor) -> tuple[Tensor, ...]:
            _, slopes = _loop(of_rows, table, bias, order.take_real(upstream), z_loss)
            return _like((order.put_back(slopes[0]), *slopes[1:]), hidden, table, *bias)

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            upstream = ops.cast(upstream[0], "float32") * real
            if slopes is None:
                return of_any_sum(upstream)
            # The row of the largest weight gives the factor: a quotient of sums over all rows would be
            # rounded too far for the comparison.
            largest = ops.max(weights, initial=0.0)
            of_largest = ops.max(ops.where(ops.equal(weights, largest), upstream, -1e30), initial=-1e30)
            factor = ops.where(largest > 0.0, of_largest / ops.maximum(largest, 1e-30), 0.0)
            apart = ops.max(ops.abs(upstream - factor * weights))

            def of_weighted_sum() -> tuple[Tensor, ...]:
                scaled = [factor * ops.cast(slope, "float32") for slope in slopes]
                return _like((order.put_back(scaled[0]), *scaled[1:]), hidden, table, *bias)

            is_weighted_sum = apart <= 1e-6 * ops.max(ops.abs(upstream))
            return ops.cond(is_weighted_sum, of_weighted_sum, lambda: of_any_sum(upstream))

        return ops.stack([order.put_back(part) * real for part in result]), gradient

    return run


class _Rows(NamedTuple):
    """Rows in the order in which they are taken, padded to whole chunks."""

    hidden: Any
    labels: Any
    of_chunk: int
    chunks: Any

    def chunk(self, index: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        """Returns hidden states, labels and other requested tensors of one chunk."""
        start = index * self.of_chunk
        states = ops.slice(self.hidden, (start, 0), (self.of_chunk, self.hidden.shape[1]))
        return states, *(ops.slice(values, (start,), (self.of_chunk,)) for values in (self.labels, *others))


class _Order(NamedTuple):
    """The order in which rows are taken.

    Attributes:
        order: int32 [padded], the rows of weight 0 after the others, and padding after all.
        inverse: int32 [count].
        real: int32 [], rows that are taken.
        chunks: int32 [], those that hold such rows.
    """

    order: Any
    inverse: Any
    real: Any
    chunks: Any

    def take(self, values: Tensor) -> Tensor:
        return ops.take(values, self.order, axis=0)

    def take_real(self, values: Tensor) -> Tensor:
        """Returns the same, with zeros on rows that only fill a chunk."""
        places = ops.arange(ops.shape(self.order)[0], dtype="int32")
        return ops.where(places < self.real, self.take(ops.cast(values, "float32")), 0.0)

    def put_back(self, values: Tensor) -> Tensor:
        return ops.take(values, self.inverse, axis=0)


def _sort(weights: Tensor, rows: int) -> _Order:
    count = ops.shape(weights)[0]
    places = ops.arange(count, dtype="int32")
    is_real = ops.greater(weights, 0.0)
    order = ops.cast(ops.argsort(ops.where(is_real, places, places + count)), "int32")
    inverse = ops.cast(ops.argsort(order), "int32")
    real = ops.sum(ops.cast(is_real, "int32"))
    padding = ops.zeros(((count + rows - 1) // rows * rows - count,), dtype="int32")
    return _Order(ops.concatenate([order, padding]), inverse, real, (real + rows - 1) // rows)


def _loop(
    rows: _Rows, table: Tensor, bias: tuple[Tensor, ...], scales: Tensor | None, z_loss: float
) -> tuple[Any, Any]:
    """Takes chunk after chunk.

    Args:
        scales: float32 [padded], of the rows' losses in the sum whose gradients are made, or None.

    Returns:
        losses and correct: float32 [padded] each, zeros on chunks that are not taken.
        slopes: Gradients for hidden states [padded, width], table and bias; None without scales.
    """
    padded, width = ops.shape(rows.hidden)
    start = [ops.zeros((padded,), dtype="float32"), ops.zeros((padded,), dtype="float32")]
    if scales is not None:
        start.append(ops.zeros((padded, width), dtype=rows.hidden.dtype))
        start += [ops.zeros(ops.shape(part), dtype="float32") for part in (table, *bias)]

    def body(index: Tensor, *done: Tensor) -> tuple[Tensor, ...]:
        taken = rows.chunk(index, *([] if scales is None else [scales]))
        losses, correct, of_totals = _predict(taken[0], table, bias, taken[1], z_loss)
        places = ops.expand_dims(index * rows.of_chunk + ops.arange(rows.of_chunk, dtype="int32"), 1)
        made = [losses, correct]
        if scales is not None:
            made += _differentiate(taken[0], table, bias, taken[1], losses, of_totals, taken[2])
        placed = [ops.scatter_update(whole, places, part) for whole, part in zip(done[:3], made[:3])]
        summed = [ops.add(whole, ops.cast(part, "float32")) for whole, part in zip(done[3:], made[3:])]
        return _after(index, made[-1]), *placed, *summed

    _, *done = ops.while_loop(lambda index, *_: index < rows.chunks, body, (ops.convert_to_tensor(0), *start))
    return done[:2], (None if scales is None else tuple(done[2:]))


def _after(index: Tensor, value: Tensor) -> Tensor:
    """Returns the next index, which is not known before `value` is.

    Most of a chunk's work does not depend on the chunk before, and a scheduler that does several at a time
    would hold the logits of all of them.
    """
    first = ops.reshape(value, (-1,))[0]
    return index + 1 + ops.cast(ops.less(ops.square(first), 0.0), "int32")


def _predict(
    hidden: Tensor, table: Tensor, bias: tuple[Tensor, ...], labels: Tensor, z_loss: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns losses and hits, float32 [rows], and the losses' slopes, float32 [rows, vocabulary].

    Slopes are those for each logit by way of the softmax's sum: its probability, unless there is a z-loss.
    """
    table = ops.cast(table, hidden.dtype)
    logits = ops.cast(ops.matmul(hidden, ops.transpose(table)), "float32")
    for part in bias:
        logits = ops.add(logits, ops.cast(part, "float32"))
    probabilities, best = ops.softmax(logits), likeliest(logits)
    # The largest probability is one over the sum of the exponentials, so that sum needs no pass of its own;
    # and being at least 1 / vocabulary, it never underflows as the label's probability can.
    log_total = pick(logits, best) - ops.log(pick(probabilities, best))
    hits = ops.cast(ops.equal(best, labels), "float32")
    losses = with_z_loss(log_total, z_loss) - pick(logits, labels)
    if not z_loss:
        return losses, hits, probabilities
    return losses, hits, probabilities * ops.expand_dims(z_loss_slopes(log_total, z_loss), -1)


def _differentiate(
    hidden: Tensor,
    table: Tensor,
    bias: tuple[Tensor, ...],
    labels: Tensor,
    losses: Tensor,
    of_totals: Tensor,
    scales: Tensor,
) -> list[Tensor]:
    """Returns the gradients of `sum(losses * scales)` for hidden states, table and, if there is one, bias.

    Rows are scaled where they are as narrow as the hidden states, not as wide as the vocabulary.
    """
    places = ops.stack([ops.arange(ops.shape(labels)[0], dtype="int32"), labels], axis=-1)
    # Losses, which need all else that reads the slopes, add nothing, but let the update be in place.
    at_labels = pick(of_totals, labels) - 1.0 + 1e-30 * losses
    slope = ops.scatter_update(of_totals, places, at_labels)
    rounded, scales = ops.cast(slope, hidden.dtype), ops.expand_dims(ops.cast(scales, "float32"), -1)
    for_hidden = ops.cast(ops.matmul(rounded, ops.cast(table, hidden.dtype)), "float32") * scales
    scaled = ops.cast(ops.cast(hidden, "float32") * scales, hidden.dtype)
    # The table's in the table's own layout: the transpose of a whole vocabulary is costly.
    slopes = [ops.cast(for_hidden, hidden.dtype), ops.matmul(ops.transpose(rounded), scaled)]
    return [*slopes, *(ops.sum(slope * scales, axis=0) for _ in bias)]


def _like(slopes: Iterable[Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Returns gradients in the dtypes of their tensors, without one for a bias that is not there."""
    return tuple(ops.cast(slope, value.dtype) for slope, value in zip(slopes, inputs))
