"""Base classes of the objectives: of all, of those that mask tokens, and of those with sentinels."""

import abc
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.transforms import documents
from firth.objectives.transforms.documents import (
    Text,
    count_by_document,
    decoder_features,
    encoder_decoder_features,
    ordinary_table,
    read_text,
)
from firth.objectives.transforms.layout import Frame, Layout, lay_out
from firth.objectives.transforms.masking import Choice, ChosenTokens, Corruption
from firth.objectives.transforms.pairs import Pairs, single_segments
from firth.objectives.transforms.spans import Noise, sentinel_inputs, sentinel_targets
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers.graph.special_pieces import MissingPieceError

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer

Row: TypeAlias = documents.Row
# The features of one example by name, and their specs.
Features: TypeAlias = dict[str, tf.Tensor]
Specs: TypeAlias = dict[str, features.Spec]
Tokenizer: TypeAlias = "PieceTokenizer"


class ObjectiveFunction(abc.ABC):
    """A pure function from a row and a seed to features.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids.

    Raises:
        ValueError: if the objective needs a special piece, such as a mask, that the tokenizer does not have.
    """

    rates: ClassVar[Any]
    _frame: Frame

    def __init__(self, config: Any, sequences: Sequences, tokenizer: Any) -> None:
        self._config = config
        self._sequences = sequences
        self._pad_id = tokenizer.pad_id
        try:
            self._prepare(tokenizer)
        except MissingPieceError as error:
            raise ValueError(f"{config.kind} cannot be made: {error}") from error

    @abc.abstractmethod
    def _prepare(self, tokenizer: Any) -> None:
        """Sets the values that all calls share, from the settings and the tokenizer."""

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: its length without the tokens that the objective adds."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> Specs:
        """Returns the specs of the features of one example, which depend on the model's architecture."""
        length = self._config.input_length(self._sequences)
        targets = self._config.target_length(self._sequences)
        encoder = features.encoder_specs(length, segments=False, order=not targets)
        if not targets:
            return {**encoder, **features.label_specs(length)}
        return {**encoder, **features.decoder_specs(targets), **features.label_specs(targets)}

    def _lay_out_chunks(self, row: Row) -> Layout:
        """Returns a row with the objective's frame around each chunk."""
        return lay_out(row, None, single_segments(row), self._sequences.length, self._frame, self._pad_id)

    def _read_by_architecture(
        self, inputs: documents.Parts, targets: documents.Parts, weights: tf.Tensor
    ) -> Features:
        """Returns the features of `specs` from inputs and targets, as one sequence or two."""
        if self._config.architecture == "decoder":
            length = self._config.input_length(self._sequences)
            return decoder_features(inputs, targets, weights, length)
        return encoder_decoder_features(inputs, targets, weights, self._pad_id)

    @abc.abstractmethod
    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Tensors of another row; not read unless the recipe's type has `uses_negative`.
            seed: Seed, int32 or int64 [2].
        """


class MaskingObjective(ObjectiveFunction):
    """Chooses tokens and masks or replaces them; a document is `[CLS] x1 ... xn [SEP]` by default.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids and the pieces drawn at random.
    """

    def _prepare(self, tokenizer: Tokenizer) -> None:
        config = self._config
        self._choice = Choice(config.mask_rate, config.max_predictions, self._sequences.length, tokenizer)
        self._corruption = Corruption(config, tokenizer)
        self._frame = Frame(before=(tokenizer.cls_id,), after=(tokenizer.sep_id,))

    def _maskable(self, layout: Layout, row: Row) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns `Choice.maskable` at the rate that the run has when the row is read."""
        progress = row.get(features.PROGRESS, 1.0)
        return self._choice.maskable(layout, self._config.mask_rate_at(progress))

    def specs(self) -> Specs:
        """Returns the specs of the features of one example."""
        return {
            **features.encoder_specs(self._sequences.length),
            **features.selection_specs(self._config.max_predictions),
        }

    def _masked(
        self, layout: Layout, chosen: ChosenTokens, seeds: tf.Tensor, groups: tf.Tensor | None = None
    ) -> Features:
        """Returns the features of a layout whose chosen tokens are corrupted."""
        return {
            **layout.encoder_features(),
            features.TOKEN_IDS: self._corruption.corrupt(layout.token_ids, chosen, seeds, groups),
            **chosen.features(),
        }

    def _pair_features(self, task: str, pairs: Pairs, layout: Layout) -> Features:
        """Returns the labels of a task on pairs, as `features.pair_specs`."""
        return {
            features.POOLED_POSITIONS: layout.starts,
            f"{task}_labels": tf.cast(pairs.is_other, tf.int32),
            f"{task}_weights": tf.cast(pairs.is_pair, tf.float32),
        }


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
