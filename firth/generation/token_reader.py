"""Interface of models for decoding: read prompts, then the next tokens of each row."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import tensorflow as tf


class Prompts(NamedTuple):
    """Prompts of a batch with their special tokens; padding comes after each.

    Attributes:
        ids: Tokens, int32 [batch, length].
        lengths: Tokens of each prompt, int32 [batch].
        facts: Further tensors that the model reads with each text, by name: [batch, ...].
    """

    ids: tf.Tensor
    lengths: tf.Tensor
    facts: Mapping[str, tf.Tensor]

    @classmethod
    def of(cls, ids: tf.RaggedTensor, pad_id: int, facts: Mapping[str, tf.Tensor] | None = None) -> "Prompts":
        """Returns prompts of several lengths.

        Args:
            ids: Tokens of each, ragged int32 [batch, (tokens)].
            pad_id: Id of padding.
            facts: As the attribute.
        """
        lengths = tf.cast(ids.row_lengths(), tf.int32)
        # The maximum over an empty batch is the smallest integer.
        longest = tf.maximum(tf.reduce_max(lengths), 1)
        return cls(ids.to_tensor(pad_id, shape=tf.stack([-1, longest])), lengths, dict(facts or {}))


class ReadRows(NamedTuple):
    """State of a decoder that has read the beginning of each row; the first axis of every tensor is the rows.

    So `tf.nest.map_structure` with `tf.gather`, `tf.concat` or a scatter takes, joins and replaces rows;
    `taken` does the first. The cache after a row's length is not seen, and is overwritten.

    Attributes:
        lengths: Number of places of each row that have been read, int32 [batch]; the place of its next token.
        facts: Tensors that do not change while a row is read, by name: [batch, ...].
        cache: State that the model keeps of the tokens it has read: a nest of tensors [batch, ...].
    """

    lengths: tf.Tensor
    facts: Mapping[str, tf.Tensor]
    cache: Any

    def taken(self, rows: tf.Tensor) -> "ReadRows":
        """Returns the rows of these numbers, in their order; a row may be taken several times.

        Args:
            rows: Numbers of rows, int32 [n].
        """
        return tf.nest.map_structure(lambda each: tf.gather(each, rows), self)

    def standing(self, which: tf.Tensor) -> "ReadRows":
        """Returns the rows with those that have ended set back to their first place, which they read again.

        A full row has no place after its last one.

        Args:
            which: True for rows that have ended, bool [batch].
        """
        return self._replace(lengths=tf.where(which, 0, self.lengths))


class TokenReader(Protocol):
    """A model that reads prompts, and then the next tokens of each row.

    Attributes:
        goes_back: True if rows can be read again from an earlier place, by smaller `lengths`.
        predicts_prompt: True if the states of a prompt's tokens predict the tokens after them.
        start: Special tokens that a decoder next to an encoder starts from; empty for one stack.
    """

    goes_back: bool
    predicts_prompt: bool
    start: tuple[int, ...]

    def begin(self, prompts: Prompts, room: Any) -> tuple[tf.Tensor, ReadRows]:
        """Reads the prompts and, with a decoder next to an encoder, its start tokens.

        Args:
            prompts: Prompts of the batch.
            room: Most tokens to be read after that, an int or int32 [].

        Returns:
            States of all that was read, float [batch, places, width], and the rows. The state before a row's
            next token is that at `lengths - 1`; see `last_states`.
        """

    def read(self, tokens: tf.Tensor, rows: ReadRows) -> tuple[tf.Tensor, ReadRows]:
        """Reads the next tokens of each row, one or several at once.

        Args:
            tokens: Tokens to read, int32 [batch, count].
            rows: Rows as `begin` or the last call returned them, maybe with other `lengths`.

        Returns:
            States of these tokens, float [batch, count, width], and the rows, `count` tokens longer.
        """

    def logits(self, states: tf.Tensor) -> tf.Tensor:
        """Returns the logits of the token after each state, float32 [..., vocabulary].

        Args:
            states: States as they were returned, float [..., width].
        """


def last_states(states: tf.Tensor, rows: ReadRows) -> tf.Tensor:
    """Returns the state before each row's next token, float [batch, width].

    Args:
        states: States that `begin` returned, float [batch, places, width].
        rows: Rows that it returned.
    """
    return tf.gather(states, rows.lengths - 1, batch_dims=1)
