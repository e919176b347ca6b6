"""The preprocessor of a language model: texts become the features that the model reads."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from firth.language_model.other_names import own_keywords
from firth.language_model.texts import checked_texts
from firth.language_model.types import Tensor
from firth.recipes.run.run_recipe import RunRecipe
from firth.serving.served_model import Served

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer


class Preprocessor:
    """Makes features of texts, as training, export and serving do.

    Args:
        tokenizer: Tokenizer of the model.
        recipe: Recipe of the model.

    Example:

        preprocessor = firth.load("minilm").preprocessor
        preprocessor(["A sentence."])["token_ids"]     # int32 [1, 5], with the special tokens
    """

    def __init__(self, tokenizer: "AnyTokenizer", recipe: RunRecipe) -> None:
        self.tokenizer, self.recipe = tokenizer, recipe

    @functools.cached_property
    def _served(self) -> Served:
        return Served(None, self.tokenizer, self.recipe)

    @property
    def sequence_length(self) -> int:
        """Tokens of the longest row, special ones included; the rest of a text is cut."""
        return self._served.row_length

    @own_keywords
    def __call__(self, texts: str | Sequence[str] | Tensor) -> dict[str, Tensor]:
        """Returns the features of texts by name, int32 [batch, longest], padded to the longest of the batch.

        Args:
            texts: A list of texts, or one text; within `tf.data.Dataset.map` a tensor of texts.

        Raises:
            TypeError: for a value that is not a text.
            ValueError: if there is no text.
        """
        if tf.is_symbolic_tensor(texts):
            return dict(self._served.encode(tf.reshape(texts, [-1])).features)
        given = checked_texts([texts] if isinstance(texts, str) else texts)
        features: Mapping[str, Any] = self._served.encode(tf.constant(given)).features
        if keras.backend.backend() == "tensorflow":
            return dict(features)
        return {name: each.numpy() for name, each in features.items()}
