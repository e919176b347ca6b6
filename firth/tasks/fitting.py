"""Texts of a record cut to the room that a row has for them."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf


class Fitted(NamedTuple):
    """The texts of some records, as tokens that fit.

    Attributes:
        texts: Tokens of each text, ragged int32 [records, (tokens)].
        cut: Number of tokens that were cut off, int64 [records].
    """

    texts: tuple[tf.RaggedTensor, ...]
    cut: tf.Tensor


def fit_texts(texts: Sequence[tf.RaggedTensor], room: int) -> Fitted:
    """Cuts the ends of texts, the longest one first, until they fit (Devlin et al. 2018, released code).

    Args:
        texts: Tokens of the one or two texts of each record, ragged int [records, (tokens)].
        room: Most tokens of a record.

    Example:

    >>> a, b = tf.ragged.constant([[1, 2, 3, 4]]), tf.ragged.constant([[5, 6, 7, 8]])
    >>> [each.to_list() for each in fit_texts([a, b], 5).texts]
    [[[1, 2, 3]], [[5, 6]]]
    """
    lengths = [each.row_lengths() for each in texts]
    if len(texts) == 1:
        kept = [tf.minimum(lengths[0], room)]
    else:
        first = tf.minimum(lengths[0], tf.maximum(room - lengths[1], room - room // 2))
        kept = [first, tf.minimum(lengths[1], room - first)]
    fitted = tuple(_heads(text, count) for text, count in zip(texts, kept, strict=True))
    return Fitted(fitted, tf.add_n(lengths) - tf.add_n(kept))


def _heads(text: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    places = tf.ragged.range(text.row_lengths()).flat_values
    kept = places < tf.repeat(counts, text.row_lengths())
    return tf.RaggedTensor.from_row_lengths(
        tf.boolean_mask(tf.cast(text.flat_values, tf.int32), kept), counts
    )
