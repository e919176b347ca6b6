"""The heads of the bidirectional language model."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth import features as names
from firth.layers import Dropout, chunked_cross_entropy, sampled_cross_entropy
from firth.layers.elements.layer import Divided
from firth.layers.elements.seeds import log_uniform, truncated_normal
from firth.layers.elements.types import Tensor
from firth.layers.heads.bert_heads import tied_logits
from firth.models.heads import Features, Generator, Heads
from firth.models.predictions import Predictions, predictions_of_losses
from firth.recipes.models.bilstm import BiLSTMConfig
from firth.recipes.objectives.language_models import BidirectionalLM


@keras.saving.register_keras_serializable(package="firth")
class BidirectionalLMHeads(Divided, Heads):
    """Predicts the next word from the forward half of each state, and the previous from the backward half.

    Both directions share one softmax (Peters et al. 2018, "Deep contextualized word representations",
    section 3.1). Training estimates it from a sample of the vocabulary where the objective has `negatives`;
    evaluation takes all of it, a slice at a time. States are dropped out before the softmax as before each
    layer below.

    Example: see `firth.models.build_pretraining_model`.
    """

    divided_weights: ClassVar[Mapping[str, int]] = {"table": 0, "bias": 0}

    def _make(self, model: BiLSTMConfig, objective: BidirectionalLM, seed: Generator) -> None:
        self.width = model.projection_width
        sampled = objective.negatives is not None and objective.negatives < self.vocabulary_size
        self.negatives = objective.negatives if sampled else None
        self.dropout = Dropout(model.dropout, seed=seed, dtype=self.dtype_policy, name="dropout")
        self._seed_generator = seed
        self._start = truncated_normal(model.initializer_stddev, seed)

    def build(self) -> None:
        """Creates `table` [vocabulary, projection width] and `bias` [vocabulary].

        The bias starts from the words' shares by Zipf's law. From zero, as in the reference code, it has nine
        nats to go, and until it is there a vector that all states share tells frequent words from rare ones;
        within hundreds of steps that vector grows to the bound of the LSTMs' outputs, where no gradient is.
        """
        shape = (self.vocabulary_size, self.width)
        self.table = self.add_weight(name="table", shape=shape, initializer=self._start, autocast=False)
        self.bias = self.add_weight(name="bias", shape=shape[:1], initializer=log_uniform, autocast=False)
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of `lm`, float32 [batch, 2 * length, vocabulary].

        Those of the next words come first, then those of the previous ones.
        """
        hidden = self._states(backbone, features, training)
        rows = ops.reshape(hidden, (-1, self.width))
        return {"lm": tied_logits(rows, self.table, self.bias, ops.shape(hidden)[:2])}

    def project(self, backbone: Any, hidden: Tensor) -> Tensor:
        """Returns the logits of the word after some states of the forward direction.

        Args:
            hidden: Float tensor [..., projection width].

        Returns:
            float32 [..., vocabulary].
        """
        rows = ops.reshape(ops.cast(hidden, self.compute_dtype), (-1, self.width))
        return tied_logits(rows, self.table, self.bias, ops.shape(hidden)[:-1])

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of `lm`, of the next words, then of the previous ones.

        Args:
            features: Objective's features, batched, with `label_ids`, `backward_label_ids` and the weights of
                both, [batch, length] each.
        """
        return {
            "lm": (
                _both(features, names.LABEL_IDS, names.BACKWARD_LABEL_IDS),
                _both(features, names.LABEL_WEIGHTS, names.BACKWARD_LABEL_WEIGHTS),
            )
        }

    def predictions(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of `lm`, [batch, 2 * length]: of the next words, then of the previous.

        Args:
            features: Objective's features, batched, with `label_ids`, `backward_label_ids` and the weights of
                both, [batch, length] each.
        """
        hidden = ops.reshape(self._states(backbone, features, training), (-1, self.width))

        def losses(labels: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
            rows = (hidden, self.table, self.bias, labels)
            if training and self.negatives is not None:
                return sampled_cross_entropy(*rows, self.negatives, self._seed_generator)
            z_loss = self._z_loss("lm", training)
            return chunked_cross_entropy(*rows, weights, bool(training), z_loss=z_loss)

        return {"lm": predictions_of_losses(losses, *self.labels(features)["lm"])}

    def _states(self, backbone: Any, features: Features, training: bool | None) -> Tensor:
        """Returns the states of both directions, one after another, [batch, 2 * length, width]."""
        states = ops.concatenate(ops.split(backbone(features, training=training), 2, axis=-1), axis=1)
        return self.dropout(ops.cast(states, self.compute_dtype), training=training)


def _both(features: Features, forward: str, backward: str) -> Tensor:
    return ops.concatenate([features[forward], features[backward]], axis=1)
