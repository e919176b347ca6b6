"""The head of permutation LM."""

import keras
from keras import ops

from firth import features as names
from firth.layers import tied_projection
from firth.models.predictions import Predictions, predictions_of_logits


@keras.saving.register_keras_serializable(package="firth")
class PermutationLMHeads(keras.layers.Layer):
    """Which tokens stand at the predicted positions, given those before them in a random order.

    `g E^T + c`, with g the states of the query stream and E the token embeddings (Yang et al. 2019, "XLNet",
    section 2.3). Nothing stands between the stream and the projection.

    Args:
        model: The recipe's `model`, as a dict.
        objective: The recipe's `objective`, as a dict.
        vocabulary_size: Rows of the token embeddings.
        seed: A `keras.random.SeedGenerator` to share; nothing here is random.

    Example: see `firth.models.build_pretraining_model`.
    """

    def __init__(self, model, objective, vocabulary_size, seed=None, **kwargs):
        super().__init__(**kwargs)
        del objective, seed
        self.width = model["width"]
        self.vocabulary_size = vocabulary_size

    def build(self):
        """Creates `bias` [vocabulary_size]; it depends on no input shape."""
        self.bias = self.add_weight(
            name="bias", shape=(self.vocabulary_size,), initializer="zeros", autocast=False
        )
        self.built = True

    def logits(self, query, token_table):
        """Returns float32 logits [batch, predictions, vocabulary_size].

        Args:
            query: Float tensor [batch, predictions, width], the query stream.
            token_table: Float tensor [vocabulary_size, width], the token embeddings.
        """
        rows = ops.reshape(ops.cast(query, self.compute_dtype), (-1, self.width))
        logits = tied_projection(rows, ops.cast(token_table, self.compute_dtype))
        logits = ops.add(ops.cast(logits, "float32"), self.bias)
        return ops.reshape(logits, (*ops.shape(query)[:2], self.vocabulary_size))

    def predictions(self, backbone, features, training=None) -> dict[str, Predictions]:
        """Returns the predictions of `lm`."""
        query = backbone.query_stream(features, training=training)
        logits = self.logits(query, backbone.token_embedding.table)
        labels, weights = features[names.MASKED_LABELS], features[names.MASKED_WEIGHTS]
        return {"lm": predictions_of_logits(logits, labels, weights)}
