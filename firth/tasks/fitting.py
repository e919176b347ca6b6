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
        texts: Tokens of the texts of each record, ragged int [records, (tokens)] each.
        room: Most tokens of a record.

    Example:

    >>> a, b = tf.ragged.constant([[1, 2, 3, 4]]), tf.ragged.constant([[5, 6, 7, 8]])
    >>> [each.to_list() for each in fit_texts([a, b], 5).texts]
    [[[1, 2, 3]], [[5, 6]]]
    """
    lengths = tf.stack([each.row_lengths() for each in texts])
    kept = tf.unstack(_kept(lengths, room), num=len(texts))
    fitted = tuple(_heads(text, count) for text, count in zip(texts, kept, strict=True))
    return Fitted(fitted, tf.reduce_sum(lengths, axis=0) - tf.add_n(kept))


def _kept(lengths: tf.Tensor, room: int) -> tf.Tensor:
    """Returns the tokens that are kept of each text, int64 [texts, records]: no text is left longer than
    one that was cut, but for the tokens that remain, which the first ones get.
    """
    ordered = tf.sort(lengths, axis=0)
    left = room - tf.cumsum(ordered, axis=0, exclusive=True)
    longer = tf.range(lengths.shape[0], 0, -1, tf.int64)[:, tf.newaxis]
    # Once a text is over its share of what the shorter ones leave, so is every longer one.
    level = tf.reduce_max(left // longer, axis=0)
    kept = tf.minimum(lengths, level)
    is_cut = lengths > level
    rest = tf.where(tf.reduce_any(is_cut, axis=0), room - tf.reduce_sum(kept, axis=0), 0)
    order = tf.cumsum(tf.cast(is_cut, tf.int64), axis=0)
    return kept + tf.cast(is_cut & (order <= rest), tf.int64)


def _heads(text: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    places = tf.ragged.range(text.row_lengths()).flat_values
    kept = places < tf.repeat(counts, text.row_lengths())
    return tf.RaggedTensor.from_row_lengths(
        tf.boolean_mask(tf.cast(text.flat_values, tf.int32), kept), counts
    )
