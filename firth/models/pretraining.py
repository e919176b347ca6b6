"""A backbone with the heads of its pre-training objective."""

import keras

from firth import features as names
from firth.layers import NextSentenceHead, Pooler
from firth.layers.seeds import plain_seed, seed_generator
from firth.models.example_sums import MASKED_LOGITS, NEXT_SENTENCE_LOGITS
from firth.models.tables import BACKBONES, HEADS


@keras.saving.register_keras_serializable(package="firth")
class PretrainingModel(keras.Model):
    """Features to the logits of masked LM and, if asked, of next sentence prediction.

    Devlin et al. 2018, section 3.1. Its parts are attributes: `backbone`, `masked_lm_head`, `pooler` and
    `next_sentence_head`, the last two None without next sentence prediction.

    Args:
        model: The recipe's `model`, as a dict.
        objective: The recipe's `objective`, as a dict.
        vocabulary_size: Rows of the token embeddings.
        seed: An int, or None; initial weights and dropout follow from it.
        dtype: A Keras dtype or policy. Logits are float32 under each.

    Call arguments:
        features: As `firth.features.masked_lm_specs`, batched. Labels and weights are not read.
        training: Whether dropout acts.

    Example: see `build_pretraining_model`.
    """

    def __init__(self, model, objective, vocabulary_size, seed=None, dtype=None, **kwargs):
        super().__init__(dtype=dtype, **kwargs)
        self._config = {
            "model": dict(model),
            "objective": dict(objective),
            "vocabulary_size": vocabulary_size,
            "seed": plain_seed(seed),
        }
        start = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        shape = {key: value for key, value in model.items() if key != "kind"}
        self.backbone = BACKBONES[model["kind"]](vocabulary_size, **shape, **start, name="backbone")
        start["initializer_stddev"] = model["initializer_stddev"]
        self.masked_lm_head = HEADS[objective["kind"]](
            vocabulary_size,
            self.backbone.width,
            model["activation"],
            model["norm_epsilon"],
            name="masked_lm_head",
            **start,
        )
        self.pooler = self.next_sentence_head = None
        if objective["next_sentence"]:
            self.pooler = Pooler(self.backbone.width, name="pooler", **start)
            self.next_sentence_head = NextSentenceHead(name="next_sentence_head", **start)

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """What dropout draws from; its `state`, int [2], is (seed, draws so far)."""
        return self.backbone.seed_generator

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        hidden_shape = (None, None, self.backbone.width)
        self.backbone.build()
        self.masked_lm_head.build(hidden_shape)
        if self.pooler is not None and self.next_sentence_head is not None:
            self.pooler.build(hidden_shape)
            self.next_sentence_head.build(hidden_shape)

    def call(self, features, training=None):
        """Returns a dict of float32 logits.

        `masked_logits` [batch, predictions, vocabulary] and, with next sentence prediction,
        `next_sentence_logits` [batch, max_documents, 2].
        """
        hidden = self.backbone(features, training=training)
        outputs = {
            MASKED_LOGITS: self.masked_lm_head(
                hidden, features[names.MASKED_POSITIONS], self.backbone.token_embedding.table
            )
        }
        if self.pooler is not None and self.next_sentence_head is not None:
            pooled = self.pooler(hidden, features[names.POOLED_POSITIONS])
            outputs[NEXT_SENTENCE_LOGITS] = self.next_sentence_head(pooled)
        return outputs

    def get_config(self):
        """The constructor's arguments."""
        return {**keras.layers.Layer.get_config(self), **self._config}
