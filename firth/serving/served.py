"""The model, tokenizer and recipe that every signature is made of."""

import dataclasses
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.recipes import Recipe
from firth.serving.encoding import Encoded, encode, encode_words, with_last_segment
from firth.tokenizers import WordTokenizer
from firth.tokenizers.storage import AnyTokenizer

# Of XLNet's `[CLS]`; see `firth.objectives.PermutationLMObjective`.
CLS_SEGMENT = 2


@dataclasses.dataclass(frozen=True)
class Served:
    """A trained model with its tokenizer and its recipe.

    Attributes:
        model: Pre-training model.
        tokenizer: Tokenizer, whose vocabulary becomes a part of the graph.
        recipe: Recipe of the run.
    """

    model: keras.Model
    tokenizer: AnyTokenizer
    recipe: Recipe

    @property
    def row_length(self) -> int:
        """Tokens of the longest row that is served, special ones included.

        It is the length of the training rows: the embeddings of positions after it were never trained, even
        where the model has them.
        """
        return self.recipe.sequences.length

    def encode(self, text: tf.Tensor) -> Encoded:
        """Encodes texts as the encoder was trained to read them, and cuts longer ones.

        Args:
            text: Texts, string [batch].
        """
        if isinstance(self.tokenizer, WordTokenizer):
            return encode_words(text, self.tokenizer, self.row_length)
        before, after = self._special_ids_around_text()
        encoded = encode(text, self.tokenizer, self.row_length, before, after)
        is_two_stream = self.recipe.model.kind == "two_stream_transformer"
        return with_last_segment(encoded, CLS_SEGMENT) if is_two_stream else encoded

    def _special_ids_around_text(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        cls, sep = self.tokenizer.cls_id, self.tokenizer.sep_id
        model, objective = self.recipe.model.kind, self.recipe.objective.kind
        if model == "two_stream_transformer":
            return (), (sep, cls)
        if model == "encoder_decoder" and objective != "denoising":
            return (), (sep,)
        return (cls,), (sep,)

    def encoder_states(self, features: dict[str, tf.Tensor]) -> tf.Tensor:
        """Returns the encoder's hidden states of a row, float [batch, length, width].

        Args:
            features: Features of the texts, by name.
        """
        backbone = self.model.backbone
        encoder = backbone.encode if self.recipe.model.kind == "encoder_decoder" else backbone
        return encoder(features, training=False)

    def proposable(self) -> npt.NDArray[Any]:
        """Returns which rows of the vocabulary may be proposed for a `[MASK]`: bool [rows].

        The model may have more rows than the tokenizer has pieces; special pieces are never proposed.
        """
        rows = np.arange(self.recipe.tokenizer.vocabulary_size)
        return (rows < self.tokenizer.vocabulary_size()) & ~np.isin(rows, self.tokenizer.special_ids)
