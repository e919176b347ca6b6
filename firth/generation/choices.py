"""How a token is chosen from logits."""

import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.filters import drawn, filtered
from firth.generation.randomness import uniforms


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
