"""Greedy decoding: at each place the likeliest token, with the keys and values of those before it kept."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf


class NextTokenReader(Protocol):
    """A model that has read the beginnings of some texts, and reads on token by token."""

    def begin(self) -> tuple[tf.Tensor, Any]:
        """Returns the logits of each text's first token, float32 [batch, vocabulary], and a cache."""

    def read(self, tokens: tf.Tensor, step: tf.Tensor, cache: Any) -> tuple[tf.Tensor, Any]:
        """Returns the logits of the token after the given ones, float32 [batch, vocabulary], and a new cache.

        Args:
            tokens: Token of each text that was written last, int32 [batch].
            step: Its place in what is written, from 0, int32 [].
            cache: Cache that the last call returned.
        """


class WrittenTexts(NamedTuple):
    """Texts that were written.

    Attributes:
        ids: Tokens, ragged int32 [batch, (tokens)], without the end.
        log_probability: Sum of the natural logarithms of the probabilities of the tokens and of the end,
            float32 [batch].
        is_finished: bool [batch], False if the end did not come within the most tokens.
    """

    ids: tf.RaggedTensor
    log_probability: tf.Tensor
    is_finished: tf.Tensor


def write_greedily(
    reader: NextTokenReader, most: int, end_id: int, may_write: npt.NDArray[np.bool_]
) -> WrittenTexts:
    """Writes the likeliest token at each place until the end, or until the row is full.

    Of two tokens of the same probability the one with the smaller id is taken. The loop is a part of the
    graph, and ends when all texts have.

    Args:
        reader: What has read the beginnings.
        most: Most tokens to write, the end among them.
        end_id: Id of the token that ends a text.
        may_write: Which tokens may be written, bool [vocabulary], the end among them.
    """
    with_others = tf.where(tf.constant(may_write), 0.0, -np.inf)
    logits, cache = reader.begin()
    batch = tf.shape(logits)[0]
    log_probability = tf.zeros([batch])
    is_finished = tf.zeros([batch], tf.bool)
    written = tf.TensorArray(tf.int32, most, element_shape=[None])

    def choose(logits: tf.Tensor, is_finished: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        logits = tf.cast(logits, tf.float32) + with_others
        tokens = tf.where(is_finished, end_id, tf.argmax(logits, axis=1, output_type=tf.int32))
        gained = tf.gather(tf.nn.log_softmax(logits), tokens, batch_dims=1)
        return tokens, tf.where(is_finished, 0.0, gained)

    def body(
        step: tf.Tensor,
        logits: tf.Tensor,
        cache: Any,
        so_far: tf.Tensor,
        is_finished: tf.Tensor,
        written: Any,
    ) -> tuple[Any, ...]:
        tokens, gained = choose(logits, is_finished)
        logits, cache = reader.read(tokens, step, cache)
        written = written.write(step, tokens)
        return step + 1, logits, cache, so_far + gained, is_finished | (tokens == end_id), written

    def goes_on(*state: Any) -> tf.Tensor:
        step, *_, is_finished, _ = state
        # One step even for a batch without texts, so that the gather below has a token to take.
        return (step < most) & ((step == 0) | ~tf.reduce_all(is_finished))

    start = (tf.constant(0), logits, cache, log_probability, is_finished, written)
    steps, _, _, log_probability, is_finished, written = tf.while_loop(goes_on, body, start)
    # After the last written token comes the end.
    ids = tf.transpose(written.gather(tf.range(steps)))
    ids = tf.reshape(ids, [batch, steps])
    is_end = tf.cast(ids == end_id, tf.int32)
    before_end = tf.cumsum(is_end, axis=1) == 0
    return WrittenTexts(tf.ragged.boolean_mask(ids, before_end), log_probability, is_finished)
