"""What all objectives share: how they are made, and the lengths of rows."""

import abc
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import tensorflow as tf

from firth import features
from firth.objectives.transforms import documents
from firth.objectives.transforms.architectures import decoder_features, encoder_decoder_features
from firth.objectives.transforms.layout import Frame, Layout, lay_out
from firth.objectives.transforms.pairs import single_segments
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers.graph.special_pieces import MissingPieceError

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer

Row: TypeAlias = documents.Row
# Of one example, by the names and specs that an objective says.
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
        """Makes what all calls share, of the settings and the tokenizer."""

    @property
    def raw_length(self) -> int:
        """Tokens of a row as the corpus writes it: its length less what the objective adds to it."""
        return self._config.raw_length(self._sequences)

    def specs(self) -> Specs:
        """Returns the specs of what a call gives, for one example: what the model's architecture reads."""
        length = self._config.input_length(self._sequences)
        targets = self._config.target_length(self._sequences)
        encoder = features.encoder_specs(length, segments=False, order=not targets)
        if not targets:
            return {**encoder, **features.label_specs(length)}
        return {**encoder, **features.decoder_specs(targets), **features.label_specs(targets)}

    def _lay_out_chunks(self, row: Row) -> Layout:
        """Returns a row whose chunks each stand in the objective's frame."""
        return lay_out(row, None, single_segments(row), self._sequences.length, self._frame, self._pad_id)

    def _read_by_architecture(
        self, inputs: documents.Parts, targets: documents.Parts, weights: tf.Tensor
    ) -> Features:
        """Returns the features that `specs` says, of inputs and targets that are one sequence or two."""
        if self._config.architecture == "decoder":
            length = self._config.input_length(self._sequences)
            return decoder_features(inputs, targets, weights, length)
        return encoder_decoder_features(inputs, targets, weights, self._pad_id)

    @abc.abstractmethod
    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Those of another row; not read unless the recipe's type says so.
            seed: Seed, int32 or int64 [2].
        """
