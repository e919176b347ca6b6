"""What every signature is made of."""

import dataclasses

import keras
import numpy as np
import tensorflow as tf

from firth.recipes import Recipe
from firth.serving.encoding import Encoded, encode
from firth.tokenizers import WordPieceTokenizer


@dataclasses.dataclass(frozen=True)
class Served:
    """A trained model with the tokenizer and the recipe that it was trained by.

    Attributes:
        model: The pre-training model.
        tokenizer: Its vocabulary becomes a part of the graph.
        recipe: The run's recipe.
    """

    model: keras.Model
    tokenizer: WordPieceTokenizer
    recipe: Recipe

    @property
    def row_length(self) -> int:
        """Pieces of the longest row that is served, [CLS] and [SEP] included.

        It is the length of the training rows: the embeddings of positions behind it were never trained, even
        where the model has them.
        """
        return self.recipe.sequences.length

    def encode(self, text: tf.Tensor) -> Encoded:
        """Encodes texts, string [batch], cutting what is longer than `row_length`."""
        return encode(text, self.tokenizer, self.row_length)

    def pieces(self, ids: tf.Tensor) -> tf.Tensor:
        """Returns the pieces of ids, int32 [...], as strings of the same shape."""
        return tf.gather(tf.constant(self.tokenizer.get_vocabulary()), ids)

    def proposable(self) -> np.ndarray:
        """Returns bool [rows]: True for pieces that may be proposed for a `[MASK]`.

        The model may have more rows than the tokenizer has pieces; special pieces are no answer either.
        """
        rows = np.arange(self.recipe.tokenizer.vocabulary_size)
        return (rows < self.tokenizer.vocabulary_size()) & ~np.isin(rows, self.tokenizer.special_ids)
