"""What objectives with sentinels have in common: all but which tokens are corrupted."""

import abc

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.transforms.arrangement import decoder_features, encoder_decoder_features
from firth.objectives.transforms.documents import Text, count_by_document, ordinary_table, read_text
from firth.objectives.transforms.sentinels import sentinel_inputs, sentinel_targets
from firth.objectives.transforms.spans import Noise
from firth.recipes.tokenizers.tokenizer import Sequences


class SentinelObjective(abc.ABC):
    """Makes Features of one row, each of its documents corrupted on its own.

    A subclass says which tokens are corrupted. A document without any has no weight in the loss.

    Args:
        config: The objective's part of a recipe.
        sequences: The recipe's sequences.
        tokenizer: Gives the special ids and the sentinels.

    Raises:
        ValueError: if the tokenizer has too few sentinels.
    """

    def __init__(self, config, sequences: Sequences, tokenizer):
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
        if self._config.arrangement == "decoder":
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

    def __call__(self, row, partner, seed) -> dict[str, tf.Tensor]:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            partner: Not used.
            seed: int32 or int64 [2].
        """
        del partner
        text = read_text(row, self._ordinary)
        noise = self.choose_noise(row, text, seed)
        return self._arrange(text, noise)

    @abc.abstractmethod
    def choose_noise(self, row, text: Text, seed) -> Noise:
        """Returns which tokens of a row are corrupted.

        Args:
            row: Tensors as `features.row_specs`.
            text: The same, as `read_text`.
            seed: int32 or int64 [2].
        """

    def noise_counts(self, text: Text) -> tf.Tensor:
        """Returns how many tokens of each document to corrupt, int32 [max_documents].

        As the recipe counts them, and one ordinary token is always kept.
        """
        ordinary = count_by_document(text.ordinary, text)
        return tf.minimum(tf.gather(self._noise_counts, text.lengths), tf.maximum(ordinary - 1, 0))

    def span_counts(self, text: Text, noise_counts) -> tf.Tensor:
        """Returns how many spans the noise of each document makes, int32 [max_documents]."""
        kept = count_by_document(text.ordinary, text) - noise_counts
        return tf.minimum(tf.gather(self._span_counts, text.lengths), tf.minimum(noise_counts, kept))

    def _arrange(self, text, noise):
        config, sequences = self._config, self._sequences
        one_stack = config.arrangement == "decoder"
        weights = tf.cast(count_by_document(noise.is_noise, text) > 0, tf.float32)
        length = config.input_length(sequences)
        room = length if one_stack else config.target_length(sequences)
        inputs = sentinel_inputs(text, noise, *self._ids, sequences.length)
        targets = sentinel_targets(text, noise, *self._ids, room, config.closing_sentinel)
        if one_stack:
            return decoder_features(inputs, targets, weights, length)
        return encoder_decoder_features(inputs, targets, weights, self._start_id)
