"""How probable each token of a prompt is after those before it."""

import tensorflow as tf

from firth.generation.reading import Prompts, TokenReader

# Places whose logits are held at once.
_AT_ONCE = 64


def prompt_log_probabilities(
    reader: TokenReader, prompts: Prompts, states: tf.Tensor, wanted: tf.Tensor
) -> tf.Tensor:
    """Returns the logarithm of each token's probability after those before it, float32 [batch, length].

    The first token's is 0, and so are those of padding. Every token of the vocabulary counts.

    Args:
        states: States that `begin` returned, float [batch, length, width].
        wanted: Whether they are wanted, bool []; if not, all are 0.
    """
    if not reader.predicts_prompt:
        return tf.zeros(tf.shape(prompts.ids))

    def scored() -> tf.Tensor:
        length = tf.shape(prompts.ids)[1]
        found = tf.TensorArray(
            tf.float32, 0, dynamic_size=True, infer_shape=False, element_shape=[None, None]
        )

        def body(place: tf.Tensor, found: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            end = tf.minimum(place + _AT_ONCE, length - 1)
            logits, ids = reader.logits(states[:, place:end]), prompts.ids[:, place + 1 : end + 1]
            chosen = tf.gather(logits, ids, batch_dims=2) - tf.reduce_logsumexp(logits, axis=2)
            return place + _AT_ONCE, found.write(place // _AT_ONCE, tf.transpose(chosen))

        _, found = tf.while_loop(lambda place, _: place < length - 1, body, (tf.constant(0), found))
        joined = tf.pad(tf.transpose(found.concat()), [[0, 0], [1, 0]])
        real = tf.sequence_mask(prompts.lengths, length)
        return tf.where(real, joined, 0.0)

    return tf.cond(wanted & (tf.shape(prompts.ids)[1] > 1), scored, lambda: tf.zeros(tf.shape(prompts.ids)))
