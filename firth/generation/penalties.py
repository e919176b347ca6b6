"""Penalties and biases of requests, applied to logits before a token is chosen."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth.generation.controls import Controls, mask_bits
from firth.generation.token_reader import Prompts, TokenReader


class Seen(NamedTuple):
    """The text of each row so far, after the prompt, or after the tokens that a decoder starts from.

    Attributes:
        occurred: Tokens that occur in it, bool [batch, vocabulary].
        written: Tokens that have been written, bool [batch, vocabulary].
        tokens: The text, int32 [batch, places]; any tokens after it.
        count: Number of its tokens, int32 [batch].
        new: Number of tokens that have been written, int32 [batch].
    """

    occurred: tf.Tensor
    written: tf.Tensor
    tokens: tf.Tensor
    count: tf.Tensor
    new: tf.Tensor

    @classmethod
    def of_prompts(cls, prompts: Prompts, reader: TokenReader, vocabulary: int, room: Any) -> "Seen":
        """Returns texts of which no token has been written.

        Args:
            room: Most tokens that are written, an int or int32 [].
        """
        ids, lengths = prompts.ids, prompts.lengths
        batch = tf.shape(lengths)[0] if lengths.shape[0] is None else lengths.shape[0]
        if not reader.predicts_prompt:
            start = tf.constant([reader.start], tf.int32, [1, len(reader.start)])
            ids, lengths = tf.tile(start, [batch, 1]), tf.fill([batch], len(reader.start))
        return cls(
            tokens_of(ids, lengths, vocabulary),
            tf.zeros([batch, vocabulary], tf.bool),
            tf.pad(ids, [[0, 0], [0, room]]),
            lengths,
            tf.zeros_like(lengths),
        )

    def with_token(self, new: tf.Tensor, is_new: tf.Tensor) -> "Seen":
        """Returns the texts after one more token.

        Args:
            new: Token of each row, int32 [batch].
            is_new: True for rows that get it, bool [batch].
        """
        here = (tf.range(tf.shape(self.tokens)[1]) == self.count[:, tf.newaxis]) & is_new[:, tf.newaxis]
        more = tf.cast(is_new, tf.int32)
        return Seen(
            with_token(self.occurred, new, is_new),
            with_token(self.written, new, is_new),
            # Loops require the same static shape.
            tf.ensure_shape(tf.where(here, new[:, tf.newaxis], self.tokens), self.tokens.shape),
            self.count + more,
            self.new + more,
        )

    def taken(self, rows: tf.Tensor) -> "Seen":
        """Returns the rows of these numbers, in their order; a row may be taken several times.

        Args:
            rows: Numbers of rows, int32 [n].
        """
        return Seen(*(tf.gather(each, rows) for each in self))


def adjusted(logits: tf.Tensor, controls: Controls, seen: Seen, end_id: int) -> tf.Tensor:
    """Returns logits with biases, penalties and the constraint's mask, float32 [batch, vocabulary].

    Tokens that may not follow get minus infinity. If no token may follow, the end may. Where penalties leave
    no token that the constraint lets through, the constraint alone counts.

    Args:
        logits: float32 [batch, vocabulary].
    """
    raw = logits
    logits = tf.cond(
        tf.reduce_any(controls.repetition_penalty != 1.0),
        lambda: _divided(logits, controls.repetition_penalty[:, tf.newaxis], seen.occurred),
        lambda: tf.identity(logits),
    )
    logits = tf.cond(
        tf.reduce_any(controls.presence_penalty != 0.0),
        lambda: logits - controls.presence_penalty[:, tf.newaxis] * tf.cast(seen.written, tf.float32),
        lambda: tf.identity(logits),
    )
    logits = tf.cond(
        tf.reduce_any(controls.frequency_penalty != 0.0),
        lambda: _without_repeats(logits, controls.frequency_penalty, seen),
        lambda: tf.identity(logits),
    )
    if controls.biases.shape[1] != 0:
        logits = tf.tensor_scatter_nd_add(logits, _pairs(controls.bias_ids), controls.biases)
    logits = tf.cond(
        tf.reduce_any((controls.no_repeat_ngram_size > 0) | (seen.new < controls.min_new_tokens)),
        lambda: _without_ruled_out(logits, controls, seen, end_id),
        lambda: tf.identity(logits),
    )
    if controls.mask.shape[2] == 0:
        return logits
    words = tf.reshape(controls.mask, [-1, controls.mask.shape[2]])
    return masked(logits, raw, mask_bits(words, logits.shape[1]))


def masked(logits: tf.Tensor, raw: tf.Tensor, may_come: tf.Tensor) -> tf.Tensor:
    """Returns logits that are minus infinity for tokens that a mask does not let through.

    Args:
        logits: Logits with biases and penalties, float32 [batch, vocabulary].
        raw: Logits without, which count where penalties leave no token that the mask lets through.
        may_come: True for tokens that the mask lets through, bool [batch, vocabulary].
    """
    left = tf.where(may_come, logits, -float("inf"))
    nothing = tf.reduce_max(left, axis=1, keepdims=True) == -float("inf")
    return tf.cond(
        tf.reduce_any(nothing),
        lambda: tf.where(nothing & may_come, raw, left),
        lambda: tf.identity(left),
    )


def _without_ruled_out(logits: tf.Tensor, controls: Controls, seen: Seen, end_id: int) -> tf.Tensor:
    is_end = tf.range(tf.shape(logits)[1]) == end_id
    too_early = is_end & (seen.new < controls.min_new_tokens)[:, tf.newaxis]
    left = tf.where(too_early | repeating(seen, controls.no_repeat_ngram_size), -float("inf"), logits)
    nothing = tf.reduce_all(left == -float("inf"), axis=1, keepdims=True)
    return tf.where(nothing & is_end, logits, left)


def repeating(seen: Seen, sizes: tf.Tensor) -> tf.Tensor:
    """Returns the tokens that would repeat a run of tokens of a text, bool [batch, vocabulary].

    Paulus et al. 2018, "A Deep Reinforced Model for Abstractive Summarization", section 2.5, for runs of
    three.

    Args:
        sizes: Number of tokens of a run, int32 [batch]; 0 to rule out none.
    """
    tokens, count, sizes = seen.tokens, seen.count, sizes[:, tf.newaxis]
    places = tf.range(tf.shape(tokens)[1])
    whole = (sizes > 0) & (places >= sizes - 1) & (places < count[:, tf.newaxis])

    def compared(back: tf.Tensor, agree: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Compares the tokens so many places before each place and before the next token of the text."""
        # Guesses after the last place are never kept.
        here = tf.clip_by_value(count - back, 0, tf.shape(tokens)[1] - 1)
        last = tf.gather(tokens, here, batch_dims=1)[:, tf.newaxis]
        return back + 1, agree & ((tf.roll(tokens, back, axis=1) == last) | (back >= sizes))

    longest = tf.reduce_max(sizes)
    agree = tf.while_loop(lambda back, _: back < longest, compared, (tf.constant(1), whole))[1]
    found = tf.zeros_like(seen.occurred, tf.int32)
    return tf.tensor_scatter_nd_add(found, _pairs(tokens), tf.cast(agree, tf.int32)) > 0


def _divided(logits: tf.Tensor, penalty: tf.Tensor, occurred: tf.Tensor) -> tf.Tensor:
    weaker = tf.where(logits > 0.0, logits / penalty, logits * penalty)
    return tf.where(occurred, weaker, logits)


def _without_repeats(logits: tf.Tensor, penalty: tf.Tensor, seen: Seen) -> tf.Tensor:
    """Takes a penalty off the logits of tokens for each time that they have been written."""
    places, count = tf.range(tf.shape(seen.tokens)[1]), seen.count[:, tf.newaxis]
    is_written = (places >= count - seen.new[:, tf.newaxis]) & (places < count)
    taken = penalty[:, tf.newaxis] * tf.cast(is_written, tf.float32)
    return tf.tensor_scatter_nd_sub(logits, _pairs(seen.tokens), taken)


def tokens_of(ids: tf.Tensor, lengths: tf.Tensor, vocabulary: int) -> tf.Tensor:
    """Returns which tokens occur in each row, bool [batch, vocabulary].

    Args:
        ids: Tokens, int32 [batch, length].
        lengths: Number of tokens of each row, int32 [batch]; padding comes after them.

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
        is_new: True for rows that get it, bool [batch].
    """
    pairs = _pairs(new[:, tf.newaxis])[:, 0]
    return tf.tensor_scatter_nd_update(tokens, pairs, is_new | tf.gather(tokens, new, batch_dims=1))


def _pairs(ids: tf.Tensor) -> tf.Tensor:
    """Returns the row and the id of each token, int32 [batch, count, 2]."""
    rows = tf.broadcast_to(tf.range(tf.shape(ids)[0])[:, tf.newaxis], tf.shape(ids))
    return tf.stack([rows, ids], axis=-1)
