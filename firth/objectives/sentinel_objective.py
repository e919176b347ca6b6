"""The base of objectives with sentinels; subclasses choose the tokens that are corrupted."""

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.transforms.architectures import decoder_features, encoder_decoder_features
from firth.objectives.transforms.documents import Text, count_by_document, ordinary_table, read_text
from firth.objectives.transforms.sentinels import sentinel_inputs, sentinel_targets
from firth.objectives.transforms.spans import Noise
from firth.recipes.objectives.denoising import _Sentinels
from firth.recipes.tokenizers.tokenizer import Sequences

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer


class SentinelObjective(abc.ABC):
    """Base of the objectives that replace tokens by sentinels, each document of a row on its own.

    A subclass chooses the tokens that are corrupted. A document without any has no weight in the loss.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the sentinels.

    Raises:
        ValueError: if the tokenizer has too few sentinels.
    """

    def __init__(self, config: _Sentinels, sequences: Sequences, tokenizer: "PieceTokenizer") -> None:
        needed, found = config.sentinels_needed(sequences), len(tokenizer.sentinel_ids)
        if found < needed:
            raise ValueError(f"{config.kind} needs {needed} sentinels, and the tokenizer has {found}")
        self._config = config
        self._sequences = sequences
        self._ids = (np.asarray(tokenizer.sentinel_ids), tokenizer.sep_id)
        self._start_id = tokenizer.pad_id
        self._ordinary = ordinary_table(tokenizer)
        lengths = range(self.raw_length + 1)
        self._noise_counts = np.array([config.noise_tokens(length) for length in lengths], np.int32)
        self._span_counts = np.array(
            [config.most_spans(length) if length else 0 for length in lengths], np.int32
        )

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: those of one document whose inputs just fill the row."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> dict[str, features.Spec]:
        """Returns the specs of what a call gives, for one example."""
        length = self._config.input_length(self._sequences)
        if self._config.architecture == "decoder":
            return {
                **features.encoder_specs(length, segments=False, order=True),
                **features.label_specs(length),
            }
        targets = self._config.target_length(self._sequences)
        return {
            **features.encoder_specs(length, segments=False),
            **features.decoder_specs(targets),
            **features.label_specs(targets),
        }

    def __call__(
        self, row: Mapping[str, tf.Tensor], negative: Mapping[str, tf.Tensor] | None, seed: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        del negative
        text = read_text(row, self._ordinary)
        noise = self.choose_noise(row, text, seed)
        return self._features(text, noise)

    @abc.abstractmethod
    def choose_noise(self, row: Mapping[str, tf.Tensor], text: Text, seed: tf.Tensor) -> Noise:
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

    def _features(self, text: Text, noise: Noise) -> dict[str, tf.Tensor]:
        config, sequences = self._config, self._sequences
        one_stack = config.architecture == "decoder"
        weights = tf.cast(count_by_document(noise.is_noise, text) > 0, tf.float32)
        length = config.input_length(sequences)
        room = length if one_stack else config.target_length(sequences)
        inputs = sentinel_inputs(text, noise, *self._ids, sequences.length)
        targets = sentinel_targets(text, noise, *self._ids, room, config.closing_sentinel)
        if one_stack:
            return decoder_features(inputs, targets, weights, length)
        return encoder_decoder_features(inputs, targets, weights, self._start_id)
