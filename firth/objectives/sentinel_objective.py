"""The base of objectives with sentinels; subclasses choose the tokens that are corrupted."""

import abc

import numpy as np
import tensorflow as tf

from firth.objectives.base import Features, ObjectiveFunction, Row, Tokenizer
from firth.objectives.transforms.documents import Text, count_by_document, ordinary_table, read_text
from firth.objectives.transforms.sentinels import sentinel_inputs, sentinel_targets
from firth.objectives.transforms.spans import Noise


class SentinelObjective(ObjectiveFunction):
    """Base of the objectives that replace tokens by sentinels, each document of a row on its own.

    A subclass chooses the tokens that are corrupted. A document without any has no weight in the loss.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the sentinels.

    Raises:
        ValueError: if the tokenizer has too few sentinels.
    """

    def _prepare(self, tokenizer: Tokenizer) -> None:
        needed, found = self._config.sentinels_needed(self._sequences), len(tokenizer.sentinel_ids)
        if found < needed:
            raise ValueError(f"{self._config.kind} needs {needed} sentinels, and the tokenizer has {found}")
        self._ids = (np.asarray(tokenizer.sentinel_ids), tokenizer.sep_id)
        self._ordinary = ordinary_table(tokenizer)
        lengths = range(self.raw_length + 1)
        self._noise_counts = np.array([self._config.noise_tokens(length) for length in lengths], np.int32)
        self._span_counts = np.array(
            [self._config.most_spans(length) if length else 0 for length in lengths], np.int32
        )

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        text = read_text(row, self._ordinary)
        noise = self.choose_noise(row, text, seed)
        config, sequences = self._config, self._sequences
        weights = tf.cast(count_by_document(noise.is_noise, text) > 0, tf.float32)
        room = config.target_length(sequences) or config.input_length(sequences)
        inputs = sentinel_inputs(text, noise, *self._ids, sequences.length)
        targets = sentinel_targets(text, noise, *self._ids, room, config.closing_sentinel)
        return self._read_by_architecture(inputs, targets, weights)

    @abc.abstractmethod
    def choose_noise(self, row: Row, text: Text, seed: tf.Tensor) -> Noise:
        """Returns the noise: the tokens of a row that are corrupted.

        Args:
            row: Tensors of one row, as `features.row_specs`.
            text: Tokens of the row, as `read_text` returns them.
            seed: Seed, int32 or int64 [2].
        """

    def noise_counts(self, text: Text) -> tf.Tensor:
        """Returns the number of tokens of each document to corrupt, int32 [max_documents].

        It is the recipe's number, except that one ordinary token is always kept.

        Args:
            text: Tokens of the row.
        """
        ordinary = count_by_document(text.ordinary, text)
        return tf.minimum(tf.gather(self._noise_counts, text.lengths), tf.maximum(ordinary - 1, 0))

    def span_counts(self, text: Text, noise_counts: tf.Tensor) -> tf.Tensor:
        """Returns the number of spans that the noise of each document makes, int32 [max_documents].

        Args:
            text: Tokens of the row.
            noise_counts: Tokens of each document to corrupt, int32 [max_documents].
        """
        kept = count_by_document(text.ordinary, text) - noise_counts
        return tf.minimum(tf.gather(self._span_counts, text.lengths), tf.minimum(noise_counts, kept))
