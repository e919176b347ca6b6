"""Texts of a record cut to the room that a row has for them."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf


class Fitted(NamedTuple):
    """The texts of some records, as tokens that fit.

    Attributes:
        texts: Tokens of each text, ragged int32 or string [records, (tokens)].
        cut: Number of tokens that were cut off, int64 [records].
    """

    texts: tuple[tf.RaggedTensor, ...]
    cut: tf.Tensor

    @property
    def kept(self) -> tf.Tensor:
        """The number of tokens that are left, int64 [records]."""
        return tf.add_n([each.row_lengths() for each in self.texts])


def fit_texts(texts: Sequence[tf.RaggedTensor], room: int | tf.Tensor) -> Fitted:
    """Cuts the ends of texts, the longest one first, until they fit (Devlin et al. 2018, released code).

    Args:
        texts: Tokens of the texts of each record, ragged int or string [records, (tokens)] each.
        room: Most tokens of a record, or int64 [records] of each.

    Example:

    >>> a, b = tf.ragged.constant([[1, 2, 3, 4]]), tf.ragged.constant([[5, 6, 7, 8]])
    >>> [each.to_list() for each in fit_texts([a, b], 5).texts]
    [[[1, 2, 3]], [[5, 6]]]
    """
    lengths = tf.stack([each.row_lengths() for each in texts])
    kept = tf.unstack(_kept(lengths, room), num=len(texts))
    fitted = tuple(_heads(text, count) for text, count in zip(texts, kept, strict=True))
    return Fitted(fitted, tf.reduce_sum(lengths, axis=0) - tf.add_n(kept))


def _kept(lengths: tf.Tensor, room: int | tf.Tensor) -> tf.Tensor:
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


def fit_choices(
    context: tf.RaggedTensor, question: tf.RaggedTensor | None, choices: tf.RaggedTensor, room: tf.Tensor
) -> Fitted:
    """Cuts the texts of choices until they fit: of context and choice the ends, the longer one first.

    A question that leaves half of the room to the others is whole.

    Args:
        context: Tokens of the context of each choice, ragged int [choices, (tokens)].
        room: Most tokens of each choice with its context and question, int64 [choices].

    Example:

    >>> a, b = tf.ragged.constant([[1, 2, 3, 4]]), tf.ragged.constant([[5, 6, 7, 8]])
    >>> fitted = fit_choices(a, tf.ragged.constant([[9]]), b, tf.constant([6], tf.int64))
    >>> [each.to_list() for each in fitted.texts]
    [[[1, 2, 3, 9]], [[5, 6]]]
    """
    if question is None:
        return fit_texts([context, choices], room)
    asked = fit_texts([question], room // 2)
    (of_question,) = asked.texts
    fitted = fit_texts([context, choices], room - of_question.row_lengths())
    first = tf.concat([fitted.texts[0], of_question], axis=1)
    return Fitted((first, fitted.texts[1]), asked.cut + fitted.cut)


def room_of_choices(length: int, special_tokens: int, counts: tf.Tensor) -> tf.Tensor:
    """Returns the most tokens of each choice, so that all those of a record stand in one row.

    Args:
        counts: Number of choices of each record, int64 [records].

    Returns:
        int64 [choices], those of one record after those of another.
    """
    return tf.repeat(length // tf.maximum(counts, 1) - special_tokens, counts)


def _heads(text: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    places = tf.ragged.range(text.row_lengths()).flat_values
    kept = places < tf.repeat(counts, text.row_lengths())
    tokens = text.flat_values if text.dtype == tf.string else tf.cast(text.flat_values, tf.int32)
    return tf.RaggedTensor.from_row_lengths(tf.boolean_mask(tokens, kept), counts)
