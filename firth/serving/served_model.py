"""The model, tokenizer and recipe that every signature is made of."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.objectives import OBJECTIVES
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.encoding import Encoded, encode, encode_words, with_last_segment
from firth.serving.signature import Reading
from firth.tasks import TASKS
from firth.tokenizers.storage import AnyTokenizer


@dataclasses.dataclass(frozen=True)
class Served:
    """A trained model with its tokenizer and its recipe.

    Attributes:
        model: Model that `firth.models.build_model` made of the recipe.
        tokenizer: Tokenizer, whose vocabulary becomes a part of the graph.
        recipe: Recipe of the run.
    """

    model: keras.Model
    tokenizer: AnyTokenizer
    recipe: RunRecipe

    @property
    def task(self) -> Any:
        """The task that the model answers; its recipe is one of a run that adapts."""
        return self.recipe.goal

    @property
    def row_length(self) -> int:
        """Tokens of the longest row that is served, special ones included.

        It is the length of the training rows: the embeddings of positions after it were never trained, even
        where the model has them.
        """
        return self.recipe.sequences.length

    def encode(self, text: tf.Tensor, specials: Sequence[str] | None = None) -> Encoded:
        """Encodes texts as the encoder was trained to read them, and cuts longer ones.

        Args:
            text: Texts, string [batch].
        """
        whole = self.tokens_of(text, specials)
        kept = whole[:, : self.text_room]
        return self.encode_tokens(kept)._replace(reading=Reading.of(kept, whole))

    def tokens_of(self, text: tf.Tensor, specials: Sequence[str] | None = None) -> tf.RaggedTensor:
        """Returns all tokens of texts: ragged int32 [batch, (pieces)], or string where they are words.

        Args:
            text: Texts, string [batch]; any bytes.
        """
        if self.tokenizer.max_characters:
            return self.tokenizer.split(text)
        return self.tokenizer.tokenize(text, specials=specials)

    @property
    def text_room(self) -> int:
        """The most tokens of a text in a row, without special ones."""
        if self.tokenizer.max_characters:
            return self.row_length - 2
        return self.row_length - len(self.ids_before_text) - len(self.ids_after_text)

    def encode_tokens(self, tokens: tf.RaggedTensor) -> Encoded:
        """Encodes tokens of texts that fit a row, as the encoder was trained to read them."""
        if self.tokenizer.max_characters:
            return encode_words(tokens, self.tokenizer)
        encoded = encode(tokens, self.tokenizer, self.ids_before_text, self.ids_after_text)
        segment = self.recipe.goal.text_frame.last_segment
        return encoded if segment is None else with_last_segment(encoded, segment)

    def features_function(self) -> Any:
        """Returns the function from rows to Features of the recipe's objective or task."""
        goal = self.recipe.goal
        return {**OBJECTIVES, **TASKS}[goal.kind](goal, self.recipe.sequences, self.tokenizer)

    @property
    def ids_before_text(self) -> tuple[int, ...]:
        """The ids of the special tokens in front of a text."""
        return self.special_ids(self.recipe.goal.text_frame.before)

    @property
    def ids_after_text(self) -> tuple[int, ...]:
        """The ids of the special tokens after a text."""
        return self.special_ids(self.recipe.goal.text_frame.after)

    def special_ids(self, roles: Sequence[str]) -> tuple[int, ...]:
        """Returns the ids of special tokens by their roles, such as `cls`."""
        return tuple(getattr(self.tokenizer, f"{role}_id") for role in roles)

    def encoder_states(self, features: dict[str, tf.Tensor]) -> tf.Tensor:
        """Returns the encoder's hidden states of a row, float [batch, length, width]."""
        backbone = self.model.backbone
        encoder = backbone.encoder_states if self.recipe.model.has_decoder else backbone
        return encoder(features, training=False)

    def proposable(self) -> npt.NDArray[Any]:
        """Returns which rows of the vocabulary may be proposed for a `[MASK]`: bool [rows].

        The model may have more rows than the tokenizer has pieces; special pieces are never proposed.
        """
        rows = np.arange(self.recipe.tokenizer.vocabulary_size)
        return (rows < self.tokenizer.vocabulary_size()) & ~np.isin(rows, self.tokenizer.special_ids)
