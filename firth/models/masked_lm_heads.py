"""The heads of masked LM, and of next sentence prediction or sentence order."""

import keras

from firth import features as names
from firth.layers import MaskedLMHead, NextSentenceHead, Pooler
from firth.models.mask_decoder import build_mask_positions, decoding
from firth.models.predictions import Predictions, predictions_of_logits

_TASKS = {"nsp": "next_sentence", "sop": "sentence_order"}


@keras.saving.register_keras_serializable(package="firth")
class MaskedLMHeads(keras.layers.Layer):
    """What stood at the masked positions, and, if asked, what holds between two segments.

    Its parts are attributes: `masked_lm_head`; `pooler` and `pair_head`, None without pairs;
    `mask_positions`, the absolute positions of DeBERTa's enhanced mask decoder, None without one.

    Args:
        model: The recipe's `model`, as a dict.
        objective: The recipe's `objective`, as a dict.
        vocabulary_size: Rows of the token embeddings.
        seed: A `keras.random.SeedGenerator` to share.

    Example: see `firth.models.build_pretraining_model`.
    """

    def __init__(self, model, objective, vocabulary_size, seed, **kwargs):
        super().__init__(**kwargs)
        start = {"seed": seed, "dtype": self.dtype_policy, "initializer_stddev": model["initializer_stddev"]}
        self.task = self._task(objective)
        width = model["width"]
        self.masked_lm_head = MaskedLMHead(
            vocabulary_size,
            width,
            model["feed_forward"]["activation"],
            model["norm"]["epsilon"],
            embedding_width=model["embeddings"]["width"],
            name="masked_lm_head",
            **start,
        )
        self.pooler = self.pair_head = None
        if self.task:
            self.pooler = Pooler(width, name="pooler", **start)
            self.pair_head = NextSentenceHead(name="pair_head", **start)
        self.mask_decoder = objective.get("mask_decoder")
        self.mask_positions = build_mask_positions(self.mask_decoder, width, **start)
        self.width = width

    @staticmethod
    def _task(objective):
        if objective.get("next_sentence"):
            return "nsp"
        return "sop" if objective.get("sentence_order") else None

    def build(self):
        """Creates all weights; they depend on no input shape."""
        hidden_shape = (None, None, self.width)
        self.masked_lm_head.build(hidden_shape)
        if self.pooler is not None and self.pair_head is not None:
            self.pooler.build(hidden_shape)
            self.pair_head.build(hidden_shape)
        if self.mask_positions is not None:
            self.mask_positions.build((None, None))
        self.built = True

    def predictions(self, backbone, features, training=None) -> dict[str, Predictions]:
        """Returns the predictions of `mlm`, and of `nsp` or `sop`."""
        hidden = self._states(backbone, features, training)
        logits = self.masked_lm_head(hidden, features[names.MASKED_POSITIONS], backbone.token_embedding.table)
        made = {
            "mlm": predictions_of_logits(
                logits, features[names.MASKED_LABELS], features[names.MASKED_WEIGHTS]
            )
        }
        if self.task and self.pooler is not None and self.pair_head is not None:
            task = _TASKS[self.task]
            pairs = self.pair_head(self.pooler(hidden, features[names.POOLED_POSITIONS]))
            made[self.task] = predictions_of_logits(
                pairs, features[f"{task}_labels"], features[f"{task}_weights"]
            )
        return made

    def masked_logits(self, backbone, features, positions):
        """Returns float32 [batch, predictions, vocabulary] at positions, int32 [batch, predictions]."""
        return self.masked_lm_head(
            self._states(backbone, features, False), positions, backbone.token_embedding.table
        )

    def _states(self, backbone, features, training):
        extra = decoding(self.mask_decoder, self.mask_positions, features)
        return backbone(features, training=training, **extra)
