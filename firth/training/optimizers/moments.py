"""An optimizer's moments in bfloat16: half of their memory, rounded so that they stay right in the mean."""

import tensorflow as tf


def rounded(value: tf.Tensor, bits: tf.Tensor) -> tf.Tensor:
    """Returns bfloat16, up or down at random, in proportion to how near each of both is.

    A second moment changes by a thousandth of itself in a step, less than bfloat16 tells apart, and would
    stand still if it were rounded to the nearest (Gupta et al. 2015, "Deep Learning with Limited Numerical
    Precision", section 3).

    Args:
        value: Float32 tensor.
        bits: uint32 of its shape, of which the lowest 16 bits are read.

    Example:

    >>> between = tf.constant([1.001953125, 1.0])  # A quarter of the way from 1 to the next number.
    >>> [rounded(between, tf.constant([bits, bits], tf.uint32)).numpy().tolist() for bits in (0, 2**16 - 1)]
    [[1.0, 1.0], [1.0078125, 1.0]]
    """
    low = tf.constant(2**16 - 1, tf.uint32)
    raised = tf.bitcast(value, tf.uint32) + tf.bitwise.bitwise_and(bits, low)
    # What is cut off here is zero, so that nothing is rounded twice.
    return tf.cast(
        tf.bitcast(tf.bitwise.bitwise_and(raised, tf.bitwise.invert(low)), tf.float32), tf.bfloat16
    )


def random_bits(step: tf.Tensor, index: int, shape: tf.TensorShape) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns two lots of 16 random bits, uint32 of a shape: the same on every replica and after a resume.

    Args:
        step: Number of updates made, int [].
        index: Number of the variable.
        shape: Shape of both.
    """
    seed = tf.stack([tf.cast(step, tf.int32), tf.constant(index, tf.int32)])
    drawn = tf.random.stateless_uniform(shape, seed, None, None, tf.uint32, alg="philox")
    return drawn, tf.bitwise.right_shift(drawn, tf.constant(16, tf.uint32))
