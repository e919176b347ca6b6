"""The heads of span masking: masked LM, and the span boundary objective."""

import keras
from keras import ops

from firth import features as names
from firth.layers import MaskedLMHead, SpanBoundaryHead
from firth.models.predictions import Predictions, predictions_of_logits


@keras.saving.register_keras_serializable(package="firth")
class SpanMaskingHeads(keras.layers.Layer):
    """What stood in the hidden spans, by their own states and by those around them.

    Joshi et al. 2019, "SpanBERT: Improving Pre-training by Representing and Predicting Spans", section 3. Its
    parts are attributes: `masked_lm_head` and `span_boundary_head`, the second None without `boundary`.

    Args:
        model: The recipe's `model`, as a dict.
        objective: The recipe's `objective`, as a dict.
        vocabulary_size: Rows of the token embeddings.
        seed: A `keras.random.SeedGenerator` to share.

    Example: see `firth.models.build_pretraining_model`.
    """

    def __init__(self, model, objective, vocabulary_size, seed, **kwargs):
        super().__init__(**kwargs)
        self.width = model["width"]
        shared = {
            "activation": model["feed_forward"]["activation"],
            "norm_epsilon": model["norm"]["epsilon"],
            "initializer_stddev": model["initializer_stddev"],
            "seed": seed,
            "dtype": self.dtype_policy,
        }
        self.masked_lm_head = MaskedLMHead(
            vocabulary_size,
            self.width,
            embedding_width=model["embeddings"]["width"],
            name="masked_lm_head",
            **shared,
        )
        self.span_boundary_head = None
        if objective["boundary"]:
            self.span_boundary_head = SpanBoundaryHead(
                vocabulary_size, self.width, objective["boundary_places"], name="span_boundary_head", **shared
            )

    def build(self):
        """Creates all weights; they depend on no input shape."""
        hidden_shape = (None, None, self.width)
        self.masked_lm_head.build(hidden_shape)
        if self.span_boundary_head is not None:
            self.span_boundary_head.build(hidden_shape)
        self.built = True

    def predictions(self, backbone, features, training=None) -> dict[str, Predictions]:
        """Returns the predictions of `mlm`, and of `sbo` if asked."""
        hidden, table = backbone(features, training=training), backbone.token_embedding.table
        labels, weights = features[names.MASKED_LABELS], features[names.MASKED_WEIGHTS]
        logits = self.masked_lm_head(hidden, features[names.MASKED_POSITIONS], table)
        made = {"mlm": predictions_of_logits(logits, labels, weights)}
        if self.span_boundary_head is not None:
            around = (features[names.BOUNDARY_LEFT], features[names.BOUNDARY_RIGHT])
            offsets = features[names.BOUNDARY_OFFSETS]
            logits = self.span_boundary_head(hidden, *around, offsets, table)
            # An offset of 0 says that a token is masked too far within its span to be predicted from outside.
            placed = ops.cast(offsets > 0, weights.dtype)
            made["sbo"] = predictions_of_logits(logits, labels, weights * placed)
        return made

    def masked_logits(self, backbone, features, positions):
        """Returns float32 [batch, predictions, vocabulary] at positions, int32 [batch, predictions]."""
        hidden = backbone(features, training=False)
        return self.masked_lm_head(hidden, positions, backbone.token_embedding.table)
