"""The head of permutation LM."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.layer import Divided
from firth.layers.elements.types import Tensor
from firth.layers.heads.bert_heads import tied_logits
from firth.models.heads import Features, Heads, masked_labels, masked_positions


@keras.saving.register_keras_serializable(package="firth")
class PermutationLMHeads(Divided, Heads):
    """Predicts the tokens of positions, given those before them in a random order.

    `g E^T + c`, with g the states of the query stream and E the token embeddings (Yang et al. 2019, "XLNet",
    section 2.3). No layer is between the stream and the projection.

    Example: see `firth.models.build_pretraining_model`.
    """

    divided_weights: ClassVar[Mapping[str, int]] = {"bias": 0}

    def build(self) -> None:
        """Creates `bias` [vocabulary_size]; it depends on no input shape."""
        self.bias = self.add_weight(
            name="bias", shape=(self.vocabulary_size,), initializer="zeros", autocast=False
        )
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of `lm`, float32 [batch, predictions, vocabulary_size].

        From features without `attention_order`, tokens are in the order of the text.
        """
        order = features.get(names.ATTENTION_ORDER, features.get(names.POSITION_IDS))
        asked = {names.ATTENTION_ORDER: order, names.MASKED_POSITIONS: masked_positions(features)}
        query = backbone.query_stream({**features, **asked}, training=training)
        rows = ops.reshape(ops.cast(query, self.compute_dtype), (-1, self.width))
        table = backbone.token_embedding.table
        return {"lm": tied_logits(rows, table, self.bias, ops.shape(query)[:2])}

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of `lm`.

        Args:
            features: Objective's features, batched, with `masked_labels` and `masked_weights`, [batch,
                predictions] each.
        """
        return {"lm": masked_labels(features)}
