"""Permutes the sentences of documents, and rotates documents."""

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row, Text


def permute_sentences(row: Row, text: Text, seed: tf.Tensor) -> tf.Tensor:
    """Returns the order of a row's tokens with the sentences of each document in a random order.

    A sentence ends before the next one begins, so that a sentence cut in two by chunking counts as one as
    well.

    Args:
        seed: Seed, int32 or int64 [2].

    Returns:
        Index of the token that is moved to each place, int32 [raw_length].
    """
    begins = (row[features.SENTENCE_STARTS] > 0) | (text.offsets == 0)
    sentences = tf.cumsum(tf.cast(begins, tf.int32)) - 1
    size = tf.size(sentences)
    draws = tf.random.stateless_uniform(
        [size], seed, minval=0, maxval=2**31 - 1, dtype=tf.int32, alg="philox"
    )
    keys = tf.cast(text.documents, tf.int64) * 2**31 + tf.cast(tf.gather(draws, sentences), tf.int64)
    return tf.argsort(keys, stable=True)


def rotate_documents(text: Text, rate: float, seeds: tf.Tensor) -> tf.Tensor:
    """Returns the order of a row's tokens with some documents rotated to begin at a random token.

    Args:
        seeds: Seeds, int32 or int64 [2, 2].

    Returns:
        Index of the token that is moved to each place, int32 [raw_length].
    """
    shape = tf.shape(text.lengths)
    turned = tf.random.stateless_uniform(shape, seeds[0], alg="philox") < rate
    draws = tf.random.stateless_uniform(shape, seeds[1], alg="philox")
    begins = tf.minimum(tf.cast(draws * tf.cast(text.lengths, tf.float32), tf.int32), text.lengths - 1)
    begins = tf.concat([tf.where(turned & (text.lengths > 0), begins, 0), [0]], 0)
    lengths = tf.maximum(tf.gather(tf.concat([text.lengths, [1]], 0), text.documents), 1)
    firsts = tf.range(tf.size(text.tokens)) - text.offsets
    return firsts + (text.offsets + tf.gather(begins, text.documents)) % lengths
