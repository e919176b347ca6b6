"""Contrastive search in the graph."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.generation.controls import Controls
from firth.generation.sampling import likeliest
from firth.generation.token_reader import Prompts, TokenReader, last_states
from firth.generation.writer import RUNNING, Writer, Writing, WritingDecoder
from firth.recipes.generation.samplers import ContrastiveSearch


class Contrasting(NamedTuple):
    """Texts that are being written. Every tensor in it has the rows as its first axis.

    Attributes:
        writing: The texts; the model has read all of their tokens.
        logits: Logits of the next token, float32 [batch, vocabulary].
        directions: States of all tokens that were read, scaled to length 1, float32 [batch, places, width].
    """

    writing: Writing
    logits: tf.Tensor
    directions: tf.Tensor

    @property
    def ended(self) -> tf.Tensor:
        """Why a row has ended, as in `Writing`."""
        return self.writing.ended


class ContrastiveSearcher(WritingDecoder[Contrasting]):
    """Writes by contrastive search: `start`, then `go_on` until all rows have ended.

    Su et al. 2022, "A Contrastive Framework for Neural Text Generation", section 3.2. The likeliest tokens of
    each row are read, each after a copy of the row. Their states are compared with those of all tokens that
    the same stack has read: the prompt too, unless an encoder has read it.

    Args:
        may_write: True for tokens that may be written, bool [vocabulary], the end among them.
    """

    def __init__(
        self, reader: TokenReader, end_id: int, may_write: npt.NDArray[np.bool_], sampler: ContrastiveSearch
    ) -> None:
        self._reader, self._alpha = reader, sampler.penalty_alpha
        self._compared = min(sampler.top_k, len(may_write))
        self._writer = Writer(reader, end_id, may_write, likeliest)

    def start(self, prompts: Prompts, controls: Controls, room: Any) -> tuple[Contrasting, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.

        Returns:
            The texts so far, and the states of all that was read, float [batch, places, width].
        """
        states, rows = self._reader.begin(prompts, room)
        begun = Contrasting(
            self._writer.empty(prompts, rows, room),
            tf.cast(self._reader.logits(last_states(states, rows)), tf.float32),
            tf.pad(_directions(states), [[0, 0], [0, room], [0, 0]]),
        )
        return self.step(begun, controls), states

    def step(self, contrasting: Contrasting, controls: Controls) -> Contrasting:
        """Writes one more token of each row that has not ended."""
        writing, count = contrasting.writing, self._compared
        logits = self._writer.allowed(contrasting.logits)
        proposed = self._writer.proposed(logits, controls, writing.seen)
        confidence, tokens = tf.math.top_k(tf.nn.softmax(proposed), count)
        batch = tf.shape(tokens)[0]
        before = writing.rows.standing(writing.ended != RUNNING)
        states, read = self._reader.read(
            tf.reshape(tokens, [-1, 1]), before.taken(tf.repeat(tf.range(batch), count))
        )
        directions = tf.reshape(_directions(states), [-1, count, states.shape[-1]])
        likeness = self._likeness(directions, contrasting.directions, before.lengths)
        scores = (1.0 - self._alpha) * confidence - self._alpha * likeness
        # A token that may not be written has no probability; it may be very unlike all others.
        best = tf.argmax(tf.where(confidence > 0.0, scores, -float("inf")), axis=1, output_type=tf.int32)
        chosen = tf.range(batch) * count + best
        writing = self._writer.extended(
            writing._replace(rows=read.taken(chosen)), tf.gather(tokens, best, batch_dims=1), logits, controls
        )
        here = tf.range(tf.shape(contrasting.directions)[1]) == before.lengths[:, tf.newaxis]
        own = tf.gather(directions, best, batch_dims=1)[:, tf.newaxis]
        return Contrasting(
            writing,
            tf.cast(self._reader.logits(tf.gather(states[:, 0], chosen)), tf.float32),
            tf.where(here[:, :, tf.newaxis], own, contrasting.directions),
        )

    @staticmethod
    def _likeness(own: tf.Tensor, others: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
        """Returns the greatest cosine of each candidate with what its row has read, [batch, count]."""
        cosines = tf.matmul(own, others, transpose_b=True)
        real = tf.sequence_mask(lengths, tf.shape(others)[1])[:, tf.newaxis]
        return tf.reduce_max(tf.where(real, cosines, -1.0), axis=2)


def _directions(states: tf.Tensor) -> tf.Tensor:
    return tf.math.l2_normalize(tf.cast(states, tf.float32), axis=-1)
