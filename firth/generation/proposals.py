"""Proposers of speculative decoding: a smaller model, or the text so far, guesses the next tokens."""

from typing import Any, Protocol

import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.sampling import drawn, filtered, uniforms
from firth.generation.token_reader import Prompts, ReadRows, TokenReader
from firth.generation.writer import RUNNING, Writer, Writing

# Number of the draws of a draft among those of a token; see `uniforms`.
_DRAFTING = 3


class Proposer(Protocol):
    """Interface of classes that guess the next tokens of rows.

    Attributes:
        count: Number of tokens that it guesses at once.
    """

    count: int

    def begin(self, prompts: Prompts, room: Any) -> Any:
        """Reads the prompts and returns the state of the proposer: a nest of tensors [batch, ...].

        Args:
            prompts: Prompts of the batch.
            room: Most tokens that are written after them.
        """

    def propose(self, known: Any, writing: Writing, controls: Controls) -> tuple[tf.Tensor, tf.Tensor, Any]:
        """Guesses the next tokens of each row.

        Args:
            known: State that `begin` or `keep` returned.
            writing: Texts so far.
            controls: Values that each row requests.

        Returns:
            Tokens, int32 [batch, count], the distribution that each was drawn from, float32 [batch, count,
            vocabulary], and the new state.
        """

    def read(self, known: Any, writing: Writing, tokens: tf.Tensor) -> Any:
        """Returns the state that `propose` would return with other guesses than its own.

        Args:
            known: State that `begin` or `keep` returned.
            writing: Texts so far.
            tokens: The guesses, int32 [batch, count].
        """

    def keep(self, known: Any, before: Any, gained: tf.Tensor) -> Any:
        """Returns the state after some of the guesses were kept.

        Args:
            known: State that `propose` returned.
            before: State before that.
            gained: Number of tokens by which each row has grown, int32 [batch].
        """


class DraftProposer:
    """Guesses the tokens that a smaller model writes.

    Args:
        reader: The model.
        writer: Writer of the larger model, which knows the tokens that may be written.
        count: Number of tokens to guess.
    """

    def __init__(self, reader: TokenReader, writer: Writer, count: int) -> None:
        self._reader, self._writer, self.count = reader, writer, count

    def begin(self, prompts: Prompts, room: Any) -> ReadRows:
        """Reads the prompts; see `Proposer`.

        Args:
            prompts: Prompts of the batch.
            room: Most tokens that are written after them.
        """
        _, rows = self._reader.begin(prompts, room + self.count)
        return rows

    def propose(
        self, known: ReadRows, writing: Writing, controls: Controls
    ) -> tuple[tf.Tensor, tf.Tensor, ReadRows]:
        """Guesses the next tokens of each row; see `Proposer`.

        Args:
            known: Rows that it has read: all but the token written last.
            writing: Texts so far.
            controls: Values that each row requests.
        """
        written = writing.seen.written
        batch, size = tf.shape(writing.token)[0], written.shape[1]
        steps = self.count + 1
        tokens = tf.TensorArray(tf.int32, steps, element_shape=writing.token.shape)
        shares = tf.TensorArray(tf.float32, steps, element_shape=written.shape)

        def body(step: tf.Tensor, token: tf.Tensor, rows: ReadRows, seen: Any, found: Any) -> Any:
            states, rows = self._reader.read(token[:, tf.newaxis], rows)
            logits = self._writer.allowed(self._reader.logits(states[:, 0]))
            proposed = self._writer.proposed(logits, controls, seen)
            kept = filtered(proposed, controls)
            token = drawn(kept, uniforms(controls.seeds, writing.count + step, _DRAFTING))
            seen = seen.with_token(token, tf.ones_like(token, tf.bool))
            return (
                step + 1,
                token,
                rows,
                seen,
                (found[0].write(step, token), found[1].write(step, tf.nn.softmax(kept))),
            )

        rows = known.standing(writing.ended != RUNNING)
        start = (tf.constant(0), writing.token, rows, writing.seen, (tokens, shares))
        # The last guess is read too, since it may be kept; the token after it is not used.
        _, _, rows, _, found = tf.while_loop(lambda step, *_: step < steps, body, start)
        guessed = tf.reshape(tf.transpose(found[0].stack()), [batch, steps])
        offered = tf.reshape(tf.transpose(found[1].stack(), [1, 0, 2]), [batch, steps, size])
        return guessed[:, : self.count], offered[:, : self.count], rows

    def read(self, known: ReadRows, writing: Writing, tokens: tf.Tensor) -> ReadRows:
        """Reads other guesses than its own; see `Proposer`.

        Args:
            known: Rows that it has read: all but the token written last.
            writing: Texts so far.
            tokens: The guesses, int32 [batch, count].
        """
        read = tf.concat([writing.token[:, tf.newaxis], tokens], axis=1)
        return self._reader.read(read, known.standing(writing.ended != RUNNING))[1]

    def keep(self, known: ReadRows, before: ReadRows, gained: tf.Tensor) -> ReadRows:
        """Goes back to the last token that was kept; see `Proposer`.

        Args:
            known: Rows that it has read.
            before: The rows before its guesses.
            gained: Number of tokens by which each row has grown, int32 [batch].
        """
        return known._replace(lengths=before.lengths + gained)


class LookupProposer:
    """Guesses the tokens that followed the last tokens at an earlier place of the text or prompt.

    It takes the place where the most tokens agree, and the last of several such places.

    Args:
        vocabulary: Number of tokens of the vocabulary.
        count: Number of tokens to guess.
        longest: Most tokens that must agree.
    """

    def __init__(self, vocabulary: int, count: int, longest: int) -> None:
        self._vocabulary, self.count, self._longest = vocabulary, count, longest

    def begin(self, prompts: Prompts, room: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """Keeps the prompts; see `Proposer`.

        Args:
            prompts: Prompts of the batch.
            room: Most tokens that are written after them; not needed.
        """
        return prompts.ids, prompts.lengths

    def propose(
        self, known: tuple[tf.Tensor, tf.Tensor], writing: Writing, controls: Controls
    ) -> tuple[tf.Tensor, tf.Tensor, tuple[tf.Tensor, tf.Tensor]]:
        """Looks the last tokens up; see `Proposer`.

        Args:
            known: Prompts and their lengths.
            writing: Texts so far.
            controls: Not read.
        """
        ids, lengths = known
        tokens = looked_up(
            _joined(ids, lengths, writing.ids), lengths + writing.count, self.count, self._longest
        )
        return tokens, tf.one_hot(tokens, self._vocabulary), known

    def read(self, known: Any, writing: Writing, tokens: tf.Tensor) -> Any:
        """Returns the prompts; see `Proposer`.

        Args:
            known: Prompts and their lengths.
            writing: Not read.
            tokens: Not read.
        """
        return known

    def keep(self, known: Any, before: Any, gained: tf.Tensor) -> Any:
        """Returns the prompts; see `Proposer`.

        Args:
            known: Prompts and their lengths.
            before: The same.
            gained: Number of tokens by which each row has grown; not read.
        """
        return known


def looked_up(texts: tf.Tensor, lengths: tf.Tensor, count: int, longest: int) -> tf.Tensor:
    """Returns the tokens after the last earlier place of each text's last tokens, int32 [batch, count].

    Args:
        texts: Tokens, int32 [batch, places].
        lengths: Number of tokens of each, int32 [batch].

    Example:

    >>> looked_up(tf.constant([[5, 6, 7, 8, 5, 6, 0, 0]]), tf.constant([6]), 2, 3).numpy().tolist()
    [[7, 8]]
    """
    places = tf.range(tf.shape(texts)[1])
    agree = tf.zeros_like(texts)
    so_far = tf.ones_like(texts, tf.bool)
    for back in range(1, longest + 1):
        last = tf.gather(texts, tf.maximum(lengths - back, 0), batch_dims=1)[:, tf.newaxis]
        # Compares the tokens before each place.
        earlier = tf.pad(texts, [[0, 0], [back, 0]], constant_values=-1)[:, : tf.shape(texts)[1]]
        so_far &= (earlier == last) & (places < lengths[:, tf.newaxis])
        agree += tf.cast(so_far, tf.int32)
    best = tf.argmax(agree * tf.shape(texts)[1] + places, axis=1, output_type=tf.int32)
    after = tf.minimum(best[:, tf.newaxis] + tf.range(count), tf.shape(texts)[1] - 1)
    return tf.gather(texts, after, batch_dims=1)


def _joined(ids: tf.Tensor, lengths: tf.Tensor, written: tf.Tensor) -> tf.Tensor:
    """Returns each prompt with the written tokens after it, int32 [batch, length + most]."""
    size = tf.shape(ids)[1] + tf.shape(written)[1]
    places = tf.range(size)[tf.newaxis]
    after = tf.clip_by_value(places - lengths[:, tf.newaxis], 0, tf.shape(written)[1] - 1)
    prompts = tf.pad(ids, [[0, 0], [0, tf.shape(written)[1]]])
    return tf.where(places < lengths[:, tf.newaxis], prompts, tf.gather(written, after, batch_dims=1))
