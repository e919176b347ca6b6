"""How a token is chosen from logits."""

import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.filters import drawn, filtered


def likeliest(logits: tf.Tensor, controls: Controls, step: tf.Tensor) -> tf.Tensor:
    """Returns the likeliest token of each row, int32 [batch]; of equal ones that with the smallest id.

    Args:
        logits: float32 [batch, vocabulary].
        step: Number of each row's token, int32 [batch]; not read.
    """
    return tf.argmax(logits, axis=1, output_type=tf.int32)


def sampled(logits: tf.Tensor, controls: Controls, step: tf.Tensor) -> tf.Tensor:
    """Returns a token drawn from each row's distribution, cut as it asks, int32 [batch].

    What is drawn follows from the row's seed and the number of its token, and so is the same whatever shares
    the batch. At temperature 0 it is the likeliest token, so that rows of both kinds may share a batch.

    Args:
        logits: float32 [batch, vocabulary].
        step: Number of each row's token, int32 [batch].
    """
    return drawn(filtered(logits, controls), uniforms(controls.seeds, step))


# Odd numbers without a pattern; products wrap around.
_STEP, _PURPOSE = 2654435769, 2246822519
_FIRST, _SECOND = 739982445, 2401173565
# One bit fewer than a float has, so that a share of a sum is always below the sum.
_UNIT_BITS = 23


def uniforms(seeds: tf.Tensor, steps: tf.Tensor, purpose: int = 0) -> tf.Tensor:
    """Returns a number in [0, 1) for each row, float32 [batch].

    Three rounds of the finaliser of MurmurHash3 over the number of the token, each with a word of the seed.

    Args:
        seeds: Two words of each row's seed, int32 [batch, 2].
        steps: Number of the token that is drawn, int32 [batch].

    Example:

    >>> both = uniforms(tf.constant([[1, 0], [2, 0]]), tf.constant([5, 5]))
    >>> alone = uniforms(tf.constant([[2, 0]]), tf.constant([5]))
    >>> bool(both[1] == alone[0]), bool(both[0] == both[1])
    (True, False)
    """
    words = tf.bitcast(steps, tf.uint32) * _word(_STEP) + _word(purpose * _PURPOSE + 1)
    for seed in tf.unstack(tf.bitcast(seeds, tf.uint32), num=2, axis=1):
        words = _mixed(words) + seed
    words = tf.bitwise.right_shift(_mixed(words), _word(32 - _UNIT_BITS))
    return tf.cast(words, tf.float32) / float(2**_UNIT_BITS)


def _mixed(words: tf.Tensor) -> tf.Tensor:
    for factor, shift in ((_FIRST, 16), (_SECOND, 15)):
        words = tf.bitwise.bitwise_xor(words, tf.bitwise.right_shift(words, _word(shift))) * _word(factor)
    return tf.bitwise.bitwise_xor(words, tf.bitwise.right_shift(words, _word(16)))


def _word(value: int) -> tf.Tensor:
    return tf.constant(value % 2**32, tf.uint32)
