"""Base class of all heads, and the states and labels that they read."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import keras
from keras import ops

from firth import features as names
from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.seeds import truncated_normal
from firth.layers.elements.types import Shape, Tensor
from firth.layers.heads.bert_heads import MaskedLMHead
from firth.models.predictions import Predictions, predictions_of_logits

Features = Mapping[str, Tensor]
Generator: TypeAlias = keras.random.SeedGenerator


class Heads(keras.layers.Layer):
    """Logits of each loss of an objective or a task, and the losses that they make with the labels.

    Subclasses make their parts in `_make`, and give `logits` and `labels`; where all logits at once are too
    many, also `predictions`.
    """

    built: bool
    # Whether a record is read at its `last` or `first` token, where a row of one record may leave out which;
    # None where it may not, or nothing is read at it.
    _pooled_at: str | None = None
    # Whether the states are those of the encoder, of a model with a decoder.
    reads_encoder_alone: bool = False

    def __init__(self, model: Any, goal: Any, vocabulary_size: int, seed: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.width = model.width
        self._z_losses = goal.z_losses
        self._make(model, goal, seed)

    def _make(self, model: Any, goal: Any, seed: Any) -> None:
        """Makes the parts, each an attribute."""

    def _build_parts(self, shape: Shape, *parts: keras.layers.Layer | None) -> None:
        """Builds those parts that the heads have."""
        for part in parts:
            if part is not None:
                part.build(shape)

    def _make_dense(
        self, units: int, stddev: float, seed: Any, name: str = "dense", bias: Any = 0.0, **more: Any
    ) -> keras.layers.Dense:
        """Returns a dense layer whose kernel starts from a truncated normal, and its biases from numbers."""
        return keras.layers.Dense(
            units,
            kernel_initializer=truncated_normal(stddev, seed),
            bias_initializer=keras.initializers.Constant(bias),
            dtype=self.dtype_policy,
            name=name,
            **more,
        )

    def _make_masked_lm_head(self, model: Any, width: int, seed: Any) -> MaskedLMHead:
        """Returns the head of masked tokens over the states of a model, or of its generator, of a width."""
        return MaskedLMHead(
            self.vocabulary_size,
            width,
            model.feed_forward.activation,
            model.norm.epsilon,
            model.embedding_width,
            model.initializer_stddev,
            model.biases,
            seed,
            dtype=self.dtype_policy,
            name="masked_lm_head",
        )

    def complete(self, features: Features) -> Features:
        """Returns features with the place that the first document of each row is read at, if it is left out.

        Args:
            features: Features as the backbone's `complete` returns them.
        """
        if self._pooled_at is None or names.POOLED_POSITIONS in features:
            return features
        of_decoder = None if self.reads_encoder_alone else features.get(names.DECODER_DOCUMENT_IDS)
        documents = features.get(names.DOCUMENT_IDS) if of_decoder is None else of_decoder
        if documents is None:
            return features
        first = ops.cast(ops.equal(documents, 1), "int32")
        place = ops.argmax(first, axis=1, keepdims=True)
        if self._pooled_at == "last":
            place = place + ops.maximum(ops.sum(first, axis=1, keepdims=True) - 1, 0)
        return {**features, names.POOLED_POSITIONS: ops.cast(place, "int32")}

    @property
    def of_base(self) -> list[keras.Variable]:
        """Weights that belong to the base of an adapted model, by default none; the others are the task's."""
        return []

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each loss, by its name, from features without labels too.

        Returns:
            float32 [batch, predictions or length, classes] each; its cross-entropy with the labels is the
        """
        raise NotImplementedError

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels, int32 [batch, predictions or length], and weights of each loss with some."""
        raise NotImplementedError

    def answer_scores(self, logits: Tensor, features: Features) -> Tensor:
        """Returns the scores of each answer, of which the greatest is the answer: here the logits.

        Args:
            logits: Logits of one loss, float32 [batch, predictions or length, classes].
        """
        return logits

    def probabilities(self, logits: Tensor, features: Features) -> Tensor:
        """Returns the probability of each answer, float32 of the shape of the logits: here their softmax.

        Args:
            logits: Logits of one loss, float32 [batch, predictions or length, classes].
        """
        return ops.softmax(logits)

    def predictions(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of each loss, by its name."""
        logits = self.logits(backbone, features, training)
        if not (training and self._z_losses):
            return self.predictions_of(logits, features)
        return self._predict(logits, features, self._z_losses)

    def predictions_of(self, logits: Mapping[str, Tensor], features: Features) -> dict[str, Predictions]:
        """Returns the predictions of each loss whose logits are known."""
        return self._predict(logits, features, {})

    def _predict(
        self, logits: Mapping[str, Tensor], features: Features, z_losses: Mapping[str, float]
    ) -> dict[str, Predictions]:
        labels = self.labels(features)
        return {
            name: predictions_of_logits(logits[name], *labels[name], z_losses.get(name, 0.0))
            for name in logits
        }

    def _z_loss(self, name: str, training: bool | None) -> float:
        """Returns the factor of the z-loss that is added to a loss, 0 out of training."""
        return self._z_losses.get(name, 0.0) if training else 0.0


def place_of_answers(task: Any) -> str | None:
    """Returns which token of a record's text an answer is read at; None where a record has several texts."""
    if task.documents_of_record > 1:
        return None
    return "last" if task.form.summary_is_last else "first"


def masked_positions(features: Features) -> Tensor:
    """Returns the predicted positions, int32 [batch, predictions]: all positions if none is chosen."""
    chosen = features.get(names.MASKED_POSITIONS)
    return every_position(features) if chosen is None else chosen


def every_position(features: Features) -> Tensor:
    """Returns the positions of all tokens of each row, int32 [batch, length].

    Args:
        features: Objective's features, batched, of which `token_ids`, int32 [batch, length], is read.
    """
    batch, length = ops.shape(features[names.TOKEN_IDS])
    places = ops.expand_dims(ops.arange(length, dtype="int32"), 0)
    return ops.broadcast_to(places, (batch, length))


def masked_labels(features: Features) -> tuple[Tensor, Tensor]:
    """Returns the original tokens of the chosen positions, and their weights, each [batch, predictions]."""
    return features[names.MASKED_LABELS], features[names.MASKED_WEIGHTS]


def states_of(backbone: Any, features: Features, encoder_alone: bool, training: bool | None = None) -> Tensor:
    """Returns the last states of a backbone, float [batch, length, width]."""
    read = backbone.encoder_states if encoder_alone else backbone
    return read(features, training=training)


def states_at(
    backbone: Any, features: Features, places: Tensor, encoder_alone: bool, training: bool | None = None
) -> Tensor:
    """Returns the last states of a backbone at some places of each row, float [batch, places, width].

    Args:
        places: int32 [batch, places], places of tokens.
    """
    if encoder_alone:
        return gather_tokens(states_of(backbone, features, encoder_alone, training), places)
    return backbone.states_at(features, places, training)
