"""Texts that an automaton over tokens holds to a constraint inside the graph."""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from firth.constraints.token_automaton import TokenAutomaton
from firth.generation.controls import Controls
from firth.generation.token_reader import Prompts
from firth.generation.writer import Writer, Writing, WritingDecoder


class Following(NamedTuple):
    """Texts that are being written. Every tensor in it has the rows as its first axis.

    Attributes:
        writing: The texts.
        states: State of the automaton after each text, int32 [batch].
    """

    writing: Writing
    states: tf.Tensor

    @property
    def ended(self) -> tf.Tensor:
        """Why a row has ended, as in `Writing`."""
        return self.writing.ended


class AutomatonWriter(WritingDecoder[Following]):
    """Writes texts that an automaton leads to an end within the tokens that each row requests.

    A row that requests fewer tokens than any valid text has is written without a bound, and cut.

    Args:
        writer: Writer of the model.
        automaton: The automaton.
    """

    def __init__(self, writer: Writer, automaton: TokenAutomaton) -> None:
        self._writer = writer
        texts = [text or b"" for text in automaton.tokens.texts]
        spelled = np.frombuffer(b"".join(texts), np.uint8)
        with tf.device("CPU"):
            self._masks = tf.constant(automaton.masks)
            self._levels, self._needed = tf.constant(automaton.levels), tf.constant(automaton.needed)
            self._transitions = tf.constant(automaton.automaton.transitions)
            self._classes = tf.constant(automaton.automaton.classes[spelled])
            self._begins = tf.constant(np.cumsum([0, *map(len, texts)]), tf.int32)

    def start(self, prompts: Prompts, controls: Controls, room: Any) -> tuple[Following, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            controls: Values that each row requests.
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.

        Returns:
            The texts so far, and the states of all that was read, float [batch, places, width].
        """
        states = tf.zeros_like(controls.most)
        writing, read = self._writer.start(prompts, self._masked(controls, states, states), room)
        return Following(writing, self._after(states, writing.token)), read

    def step(self, following: Following, controls: Controls) -> Following:
        """Writes one more token of each row that has not ended.

        Args:
            following: Texts so far.
            controls: Values that each row requests.
        """
        before, states = following
        writing = self._writer.step(before, self._masked(controls, states, before.count))
        is_new = writing.count > before.count
        return Following(writing, tf.where(is_new, self._after(states, writing.token), states))

    def _masked(self, controls: Controls, states: tf.Tensor, count: tf.Tensor) -> Controls:
        needed = tf.gather(self._needed, states)
        fitting = tf.reduce_sum(tf.cast(needed <= (controls.most - count)[:, tf.newaxis], tf.int32), axis=1)
        last = self._levels.shape[1] - 1
        level = tf.where(fitting > 0, fitting - 1, last)
        sets = tf.gather(tf.gather(self._levels, states), level, batch_dims=1)
        return controls._replace(mask=tf.gather(self._masks, sets)[:, tf.newaxis])

    def _after(self, states: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Returns the states after a token of each row; special ones write no bytes and change none."""
        places, ends = tf.gather(self._begins, tokens), tf.gather(self._begins, tokens + 1)
        last = tf.shape(self._classes)[0] - 1

        def body(places: tf.Tensor, states: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            classes = tf.cast(tf.gather(self._classes, tf.minimum(places, last)), tf.int32)
            following = tf.gather_nd(self._transitions, tf.stack([states, classes], axis=1))
            return places + 1, tf.where(places < ends, tf.maximum(following, 0), states)

        return tf.while_loop(lambda places, _: tf.reduce_any(places < ends), body, (places, states))[1]
