"""What decoding asks of a model: to read prompts, then tokens of each row, wherever it stands."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import tensorflow as tf


class Prompts(NamedTuple):
    """Prompts of a batch, with their special tokens; each begins its row, and padding comes after it.

    Attributes:
        ids: Tokens, int32 [batch, length].
        lengths: Tokens of each prompt, int32 [batch].
        facts: What else the model reads of each text, by name: tensors [batch, ...].
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
    """Rows of which a decoder has read the beginnings. Every tensor in it has the rows as its first axis.

    So rows are taken, joined and replaced by `tf.gather`, `tf.concat` and scatters of each tensor alike
    (`tf.nest.map_structure`); `taken` does the first. What a cache holds after a row's length is not seen,
    and is written over.

    Attributes:
        lengths: Places of each row that have been read, int32 [batch]: where its next token stands.
        facts: What stays as it is while a row is read, by name: tensors [batch, ...].
        cache: What the model keeps of the tokens it has read: a nest of tensors [batch, ...].
    """

    lengths: tf.Tensor
    facts: Mapping[str, tf.Tensor]
    cache: Any

    def taken(self, rows: tf.Tensor) -> "ReadRows":
        """Returns some rows, in any order and as often as is said, such as those that a beam goes on with.

        Args:
            rows: Numbers of rows, int32 [n].
        """
        taken: ReadRows = tf.nest.map_structure(lambda each: tf.gather(each, rows), self)
        return taken

    def standing(self, which: tf.Tensor) -> "ReadRows":
        """Returns the rows, of which some that have ended read no further, but the same places again.

        A full row has no place after its last one.

        Args:
            which: Which rows have ended, bool [batch].
        """
        return self._replace(lengths=tf.where(which, 0, self.lengths))


class TokenReader(Protocol):
    """A model that reads the beginnings of rows, and reads on from there.

    Attributes:
        goes_back: Whether rows can be read again from an earlier place, by smaller `lengths`.
        predicts_prompt: Whether the states of a prompt's tokens tell the tokens after them.
        start: Special tokens that a decoder next to an encoder starts from; none of one stack.
    """

    goes_back: bool
    predicts_prompt: bool
    start: tuple[int, ...]

    def begin(self, prompts: Prompts, room: Any) -> tuple[tf.Tensor, ReadRows]:
        """Reads the prompts, or, next to an encoder, what a decoder starts from.

        Args:
            prompts: What each row begins with.
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
