"""The best spans of places, by the logits of their ends, inside the graph."""

from typing import NamedTuple

import tensorflow as tf

# Score of a place that cannot be chosen; finite, so that it differs from a score that is not a number.
NO_SPAN = -1e30


class BestSpans(NamedTuple):
    """The best spans of some texts, the best first.

    Attributes:
        scores: Sum of the logits of both ends, float32 [..., spans]; `NO_SPAN` where there are fewer.
        starts: Place of the first piece among those that an answer may have, int32 [..., spans].
        ends: Place of the last piece, int32 [..., spans].
    """

    scores: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor


def best_spans(
    start: tf.Tensor, end: tf.Tensor, begins: tf.Tensor, lengths: tf.Tensor, longest: int, count: int
) -> BestSpans:
    """Returns the best spans: all pairs of a first and a last place are looked at.

    Args:
        start: Logits of the first place, float32 [..., length].
        end: Logits of the last place, float32 [..., length].
        begins: First place that an answer may have, int32 [...].
        lengths: Number of places that an answer may have, int32 [...].

    Example: the answer may be in the places 1 to 3.

    >>> start, end = tf.constant([9.0, 1.0, 3.0, 0.0]), tf.constant([9.0, 2.0, 0.0, 1.0])
    >>> [each.numpy().tolist() for each in best_spans(start, end, tf.constant(1), tf.constant(3), 2, 2)]
    [[4.0, 3.0], [1, 0], [2, 0]]
    """
    places = tf.range(tf.shape(start)[-1])
    offsets = places - begins[..., tf.newaxis]
    allowed = (offsets >= 0) & (offsets < lengths[..., tf.newaxis])
    start, end = (tf.where(allowed, each, NO_SPAN) for each in (start, end))
    rank = start.shape.rank
    after = tf.pad(end, [[0, 0]] * (rank - 1) + [[0, longest - 1]], constant_values=NO_SPAN)
    lasts = tf.gather(after, places[:, tf.newaxis] + tf.range(longest), axis=-1)
    sums = tf.maximum(start[..., tf.newaxis] + lasts, NO_SPAN)
    flat = tf.reshape(sums, tf.concat([tf.shape(start)[:-1], [-1]], 0))
    more = tf.maximum(count - tf.shape(flat)[-1], 0)
    flat = tf.pad(
        flat, tf.concat([tf.zeros([rank - 1, 2], tf.int32), [[0, more]]], 0), constant_values=NO_SPAN
    )
    scores, found = tf.math.top_k(flat, count)
    firsts = found // longest
    starts = tf.where(scores > NO_SPAN, firsts - begins[..., tf.newaxis], 0)
    return BestSpans(scores, starts, tf.where(scores > NO_SPAN, starts + found % longest, 0))
