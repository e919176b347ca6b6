"""What requests add to logits and take off them, before a token is chosen."""

import tensorflow as tf

from firth.generation.controls import Controls


def adjusted(logits: tf.Tensor, controls: Controls, occurred: tf.Tensor, written: tf.Tensor) -> tf.Tensor:
    """Returns logits with biases and penalties, float32 [batch, vocabulary].

    Args:
        logits: float32 [batch, vocabulary].
        controls: What each row asks for.
        occurred: Whether a token occurs in the text so far, with the prompt, bool [batch, vocabulary].
        written: Whether it has been written, bool [batch, vocabulary].
    """
    logits = tf.cond(
        tf.reduce_any(controls.repetition_penalty != 1.0),
        lambda: _divided(logits, controls.repetition_penalty[:, tf.newaxis], occurred),
        lambda: tf.identity(logits),
    )
    logits = tf.cond(
        tf.reduce_any(controls.presence_penalty != 0.0),
        lambda: logits - controls.presence_penalty[:, tf.newaxis] * tf.cast(written, tf.float32),
        lambda: tf.identity(logits),
    )
    if controls.biases.shape[1] == 0:
        return logits
    return tf.tensor_scatter_nd_add(logits, _pairs(controls.bias_ids), controls.biases)


def _divided(logits: tf.Tensor, penalty: tf.Tensor, occurred: tf.Tensor) -> tf.Tensor:
    weaker = tf.where(logits > 0.0, logits / penalty, logits * penalty)
    return tf.where(occurred, weaker, logits)


def tokens_of(ids: tf.Tensor, lengths: tf.Tensor, vocabulary: int) -> tf.Tensor:
    """Returns which tokens occur in each row, bool [batch, vocabulary].

    Args:
        ids: Tokens, int32 [batch, length].
        lengths: Number of tokens of each row, int32 [batch]; padding comes after them.
        vocabulary: Number of tokens of the vocabulary.

    Example:

    >>> tokens_of(tf.constant([[1, 1, 0]]), tf.constant([2]), 3).numpy().tolist()
    [[False, True, False]]
    """
    real = tf.sequence_mask(lengths, tf.shape(ids)[1], tf.int32)
    counts = tf.zeros(tf.stack([tf.shape(ids)[0], vocabulary]), tf.int32)
    return tf.tensor_scatter_nd_add(counts, _pairs(ids), real) > 0


def with_token(tokens: tf.Tensor, new: tf.Tensor, is_new: tf.Tensor) -> tf.Tensor:
    """Returns which tokens occur in each row after one more, bool [batch, vocabulary].

    Args:
        tokens: Which occurred before, bool [batch, vocabulary].
        new: Token of each row, int32 [batch].
        is_new: Whether the row has got it, bool [batch].
    """
    pairs = _pairs(new[:, tf.newaxis])[:, 0]
    return tf.tensor_scatter_nd_update(tokens, pairs, is_new | tf.gather(tokens, new, batch_dims=1))


def _pairs(ids: tf.Tensor) -> tf.Tensor:
    """Returns the row and the id of each token, int32 [batch, count, 2]."""
    rows = tf.broadcast_to(tf.range(tf.shape(ids)[0])[:, tf.newaxis], tf.shape(ids))
    return tf.stack([rows, ids], axis=-1)
