"""The head of tasks with a tag for each word, on mixed layers."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import LinearChainCRF
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.types import Tensor
from firth.layers.losses import likeliest
from firth.models.heads import Features, Generator
from firth.models.predictions import Predictions
from firth.models.task_heads.mixed_layers import MixedLayersEncoder, words_of
from firth.models.task_heads.tokens import TokensHeads


@keras.saving.register_keras_serializable(package="firth")
class MixedTagsHeads(TokensHeads):
    """A conditional random field over the tags of each sentence (Lample et al. 2016, section 2.2).

    Logits are its scores of single tags. The loss of a word is that of its tag given the tags before it, so
    that those of a sentence sum to its negative log likelihood.

    Its parts are attributes: `encoder`, `dropout`, `dense` and `crf`.

    Example: see `tests/models/task_heads/mixed_layers_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        (self.loss_term,) = task.loss_terms
        shared = {"dtype": self.dtype_policy}
        self.encoder = MixedLayersEncoder(model, task, seed, name="encoder", **shared)
        self.dropout = Dropout(task.dropout, seed=seed, name="dropout", **shared)
        classes = self.loss_term.classes
        self.dense = self._make_dense(classes, self.encoder.width**-0.5, seed, bias=task.head_bias)
        self.crf = LinearChainCRF(classes, name="crf", **shared)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.encoder.build()
        self.dense.build((None, None, self.encoder.width))
        self.crf.build((None, None, self.loss_term.classes))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the scores of each word's tags alone, float32 [batch, length, tags]."""
        states, _ = self.encoder.states(backbone, features, training)
        hidden = self.dropout(states, training=training)
        return {self.loss_term.name: ops.cast(self.dense(hidden), "float32")}

    def answer_scores(self, logits: Tensor, features: Features) -> Tensor:
        """Returns, for each tag of each word, the score of the best tags of the sentence that have it.

        Args:
            logits: Scores of single tags, float32 [batch, length, tags].
        """
        return self.crf.best_scores(logits, words_of(features))

    def probabilities(self, logits: Tensor, features: Features) -> Tensor:
        """Returns the probability of each tag of each word, over all tags of the others.

        Args:
            logits: Scores of single tags, float32 [batch, length, tags].
        """
        return ops.exp(self.crf(logits, words_of(features)))

    def predictions_of(self, logits: Mapping[str, Tensor], features: Features) -> dict[str, Predictions]:
        """Returns the predictions of the loss, by its name."""
        (name,) = logits
        tags = ops.cast(features[names.LABEL_IDS], "int32")
        losses = self.crf.losses(logits[name], words_of(features), tags)
        hits = ops.equal(likeliest(self.answer_scores(logits[name], features)), tags)
        weights = ops.cast(features[names.LABEL_WEIGHTS], "float32")
        return {name: Predictions(losses, ops.cast(hits, "float32"), weights)}
