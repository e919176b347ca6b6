"""Texts that an automaton over tokens holds to a constraint inside the graph."""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from firth.constraints.token_automaton import NEVER, TokenAutomaton
from firth.constraints.token_trie import token_trie
from firth.generation.beam_search import BeamSearcher
from firth.generation.controls import Controls
from firth.generation.token_reader import Prompts
from firth.generation.writer import Writer, WritingDecoder


class Following(NamedTuple):
    """Texts that are being written. Every tensor in it has the rows as its first axis, or the rows' beams.

    Attributes:
        writing: The texts.
        states: State of the automaton after each text, int32 [batch, texts].
    """

    writing: Any
    states: tf.Tensor

    @property
    def ended(self) -> tf.Tensor:
        """Why a row has ended, as in `Writing`."""
        return self.writing.ended


class _Sets:
    """Masks of the sets of tokens that an automaton has."""

    def __init__(self, automaton: TokenAutomaton) -> None:
        with tf.device("CPU"):
            self._masks = tf.constant(automaton.masks)
            self._levels, self._needed = tf.constant(automaton.levels), tf.constant(automaton.needed)

    def __call__(self, states: tf.Tensor, left: tf.Tensor) -> tf.Tensor:
        """Returns the mask of each text, int32 [batch, texts, words].

        Args:
            states: State of each text, int32 [batch, texts].
            left: Tokens that are left, the end among them, int32 [batch, texts].
        """
        needed = tf.gather(self._needed, states)
        fitting = tf.reduce_sum(tf.cast(needed <= left[:, :, tf.newaxis], tf.int32), axis=2)
        level = tf.where(fitting > 0, fitting - 1, self._levels.shape[1] - 1)
        return tf.gather(self._masks, tf.gather(tf.gather(self._levels, states), level, batch_dims=2))


class _Followed:
    """Masks that are made at each step: all tokens are followed by a trie."""

    def __init__(self, automaton: TokenAutomaton) -> None:
        trie, (classes, table, is_final) = token_trie(automaton.tokens), automaton.automaton
        # What may not come leads to a state more.
        dead = len(table)
        table = np.pad(np.where(table < 0, dead, table), ((0, 1), (0, 0)), constant_values=dead)
        self._classes, self._dead = table.shape[1], dead
        self._end_id, self._words = automaton.tokens.end_id, automaton.tokens.mask_words
        with tf.device("CPU"):
            self._table, self._is_final = tf.constant(table.reshape(-1), tf.int32), tf.constant(is_final)
            self._nodes = tf.constant(trie.nodes)
            self._depths = [
                (tf.constant(each.parents), tf.constant(classes[each.last_bytes].astype(np.int32)))
                for each in trie.depths
            ]
            self._distances = tf.constant(np.append(automaton.needed[:, 0], NEVER), tf.int32)

    def __call__(self, states: tf.Tensor, left: tf.Tensor) -> tf.Tensor:
        """Returns the mask of each text, as `_Sets` does."""
        shape, states, left = tf.shape(states), tf.reshape(states, [-1]), tf.reshape(left, [-1])
        found = [states[:, tf.newaxis]]
        for parents, classes in self._depths:
            before = tf.gather(found[-1], parents, axis=1)
            found.append(tf.gather(self._table, before * self._classes + classes))
        dead = tf.fill([tf.size(states), 1], self._dead)
        after = tf.gather(tf.concat([*found, dead], axis=1), self._nodes, axis=1)
        bound = tf.where(tf.gather(self._distances, states) <= left, left, NEVER - 1)
        allowed = tf.gather(self._distances, after) + 1 <= bound[:, tf.newaxis]
        is_end = tf.range(self._nodes.shape[0]) == self._end_id
        allowed = tf.where(is_end, tf.gather(self._is_final, states)[:, tf.newaxis], allowed)
        bits = tf.pad(tf.cast(allowed, tf.int32), [[0, 0], [0, 32 * self._words - self._nodes.shape[0]]])
        words = tf.reshape(bits, tf.concat([shape, [self._words, 32]], axis=0))
        packed = tf.reduce_sum(tf.bitwise.left_shift(words, tf.range(32)), axis=3)
        return tf.ensure_shape(packed, [None, None, self._words])


class AutomatonWriter(WritingDecoder[Following]):
    """Writes texts that an automaton leads to an end within the tokens that each row requests.

    A row that requests fewer tokens than any valid text has is written without a bound, and cut.

    Args:
        decoder: Decoder of the model: a `Writer`, or a `BeamSearcher`, whose beams have a state each.
        automaton: The automaton.
    """

    def __init__(self, decoder: Writer | BeamSearcher, automaton: TokenAutomaton) -> None:
        self._writer: Any = decoder
        of_tokens = [text or b"" for text in automaton.tokens.texts]
        spelled = np.frombuffer(b"".join(of_tokens), np.uint8)
        self._masks: _Sets | _Followed
        self._masks = _Sets(automaton) if automaton.has_sets else _Followed(automaton)
        with tf.device("CPU"):
            self._transitions = tf.constant(automaton.automaton.transitions)
            self._classes = tf.constant(automaton.automaton.classes[spelled])
            self._begins = tf.constant(np.cumsum([0, *map(len, of_tokens)]), tf.int32)

    def start(self, prompts: Prompts, controls: Controls, room: Any) -> tuple[Following, tf.Tensor]:
        """Reads the prompts and writes the first token of each row.

        Args:
            prompts: Prompts of the batch.
            controls: Values that each row requests.
            room: Most tokens of any row, an int or int32 []; at least `controls.most`.

        Returns:
            The texts so far, and the states of all that was read, float [batch, places, width].
        """
        states = tf.zeros([tf.shape(controls.most)[0], self._writer.texts_of_row], tf.int32)
        writing, read = self._writer.start(prompts, self._masked(controls, states, states), room)
        return Following(writing, self._after(states, self._writer.latest(writing).tokens)), read

    def step(self, following: Following, controls: Controls) -> Following:
        """Writes one more token of each row that has not ended.

        Args:
            following: Texts so far.
            controls: Values that each row requests.
        """
        before, states = following
        count = self._writer.latest(before).count
        writing = self._writer.step(before, self._masked(controls, states, count))
        latest = self._writer.latest(writing)
        continued = states if latest.parents is None else tf.gather(states, latest.parents, batch_dims=1)
        after = self._after(continued, latest.tokens)
        return Following(writing, tf.where(latest.count > count, after, states))

    def _masked(self, controls: Controls, states: tf.Tensor, count: tf.Tensor) -> Controls:
        return controls._replace(mask=self._masks(states, controls.most[:, tf.newaxis] - count))

    def _after(self, states: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Returns the states after a token of each text; special ones write no bytes and change none."""
        places, ends = tf.gather(self._begins, tokens), tf.gather(self._begins, tokens + 1)
        last = tf.shape(self._classes)[0] - 1

        def body(places: tf.Tensor, states: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            classes = tf.cast(tf.gather(self._classes, tf.minimum(places, last)), tf.int32)
            following = tf.gather_nd(self._transitions, tf.stack([states, classes], axis=2))
            return places + 1, tf.where(places < ends, tf.maximum(following, 0), states)

        return tf.while_loop(lambda places, _: tf.reduce_any(places < ends), body, (places, states))[1]
