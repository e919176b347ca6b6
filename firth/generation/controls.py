"""Controls of generation: the values of requests as tensors of a batch, one value a row."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from firth.generation.request_arrays import request_arrays
from firth.recipes.generation.request import GenerationRequest


class Controls(NamedTuple):
    """Values that each row of a batch requests; all are tensors, so that no value needs a graph of its own.

    Attributes:
        most: Most tokens to write, int32 [batch].
        temperature: float32 [batch], 0 for the likeliest token.
        top_k: int32 [batch], 0 for all.
        top_p: float32 [batch].
        min_p: float32 [batch].
        typical_p: float32 [batch].
        repetition_penalty: float32 [batch].
        presence_penalty: float32 [batch].
        frequency_penalty: float32 [batch].
        no_repeat_ngram_size: int32 [batch], 0 for none.
        min_new_tokens: int32 [batch].
        bias_ids: Tokens with a bias, int32 [batch, biases]; 0 where a row has fewer.
        biases: Their biases, float32 [batch, biases]; 0 where a row has fewer.
        seeds: Two words of each row's seed, int32 [batch, 2].
        mask: Tokens that may come next, int32 [batch, texts, words], for each of the texts that are written
            side by side for a row; without words where no row has a constraint. See `mask_bits`.
    """

    most: tf.Tensor
    temperature: tf.Tensor
    top_k: tf.Tensor
    top_p: tf.Tensor
    min_p: tf.Tensor
    typical_p: tf.Tensor
    repetition_penalty: tf.Tensor
    presence_penalty: tf.Tensor
    frequency_penalty: tf.Tensor
    no_repeat_ngram_size: tf.Tensor
    min_new_tokens: tf.Tensor
    bias_ids: tf.Tensor
    biases: tf.Tensor
    seeds: tf.Tensor
    mask: tf.Tensor

    def taken(self, rows: tf.Tensor) -> "Controls":
        """Returns the rows of these numbers, in their order; a row may be taken several times.

        Args:
            rows: Numbers of rows, int32 [n].
        """
        return tf.nest.map_structure(lambda each: tf.gather(each, rows), self)


def controls_of(requests: Sequence[GenerationRequest], tokenizer: Any) -> Controls:
    """Returns the controls of a batch, a row for each request.

    Args:
        requests: Request of each row.
        tokenizer: Tokenizer, whose tokens have the biases.

    Raises:
        ValueError: for a bias of a token that the vocabulary lacks, with the nearest one.
    """
    values = {name: tf.constant(each) for name, each in request_arrays(requests, tokenizer).items()}
    return Controls(**values, mask=tf.zeros([len(requests), 1, 0], tf.int32))


def neutral_controls(batch: tf.Tensor | int, most: int) -> Controls:
    """Returns the controls of rows that request a number of tokens alone; works inside a graph."""

    def same(value: Any, dtype: tf.DType = tf.float32) -> tf.Tensor:
        return tf.fill([batch], tf.constant(value, dtype))

    return Controls(
        most=same(most, tf.int32),
        temperature=same(1.0),
        top_k=same(0, tf.int32),
        top_p=same(1.0),
        min_p=same(0.0),
        typical_p=same(1.0),
        repetition_penalty=same(1.0),
        presence_penalty=same(0.0),
        frequency_penalty=same(0.0),
        no_repeat_ngram_size=same(0, tf.int32),
        min_new_tokens=same(0, tf.int32),
        bias_ids=tf.zeros([batch, 0], tf.int32),
        biases=tf.zeros([batch, 0]),
        seeds=tf.zeros([batch, 2], tf.int32),
        mask=tf.zeros([batch, 1, 0], tf.int32),
    )


def mask_words(vocabulary: int) -> int:
    """Returns the number of words of 32 bits that hold a bit for each token.

    Example:

    >>> mask_words(33)
    2
    """
    return -(-vocabulary // 32)


def mask_bits(words: tf.Tensor, vocabulary: int) -> tf.Tensor:
    """Returns True for tokens that a mask allows, bool [rows, vocabulary].

    Args:
        words: Masks, int32 [rows, words]: bit `id % 32` of word `id // 32` is set if the token may come.

    Example:

    >>> mask_bits(tf.constant([[5]]), 4).numpy().tolist()
    [[True, False, True, False]]
    """
    shifted = tf.bitwise.right_shift(words[:, :, tf.newaxis], tf.range(32))
    is_set = tf.bitwise.bitwise_and(shifted, 1) == 1
    return tf.reshape(is_set, [-1, 32 * words.shape[1]])[:, :vocabulary]
