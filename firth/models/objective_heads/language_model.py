"""The head of all objectives that predict the next token."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth import features as names
from firth.layers.chunked_losses import chunked_cross_entropy
from firth.layers.elements.custom_gradient import times_rows
from firth.layers.elements.layer import Divided
from firth.layers.elements.seeds import normal
from firth.layers.elements.types import Tensor, reshaped
from firth.models.heads import Features, Generator, Heads
from firth.models.predictions import Predictions, predictions_of_losses
from firth.recipes.models.transformers import CausalTransformerConfig, EncoderDecoderConfig
from firth.recipes.objectives.objective_base import Objective


@keras.saving.register_keras_serializable(package="firth")
class LanguageModelHeads(Divided, Heads):
    """Predicts the next token at every position of a decoder.

    `softmax(s h P E^T)`, with E the token embeddings (Press and Wolf 2016) or, with `tied_output: false`, a
    table of its own; P projects to the width of factorised embeddings, where they are; s is `width ** -0.5`
    with `scaled_output` (T5's reference code), otherwise 1. There is no bias. The logits of a batch are never
    held at once; see `firth.layers.chunked_losses`.

    Its parts are attributes: `table` [vocabulary_size, embedding width], or None where it is tied;
    `projection`, or None.

    Example: see `firth.models.build_pretraining_model`.
    """

    divided_weights: ClassVar[Mapping[str, int]] = {"table": 0}

    def _make(
        self, model: CausalTransformerConfig | EncoderDecoderConfig, objective: Objective, seed: Generator
    ) -> None:
        self.embedding_width = model.embedding_width
        self.is_tied = model.tied_output
        self.scale = model.output_scale
        is_scaled = model.scaled_initializer
        stddev = self.width**-0.5 if is_scaled else model.initializer_stddev
        self._initializer = normal(stddev, seed, truncated=not is_scaled)
        self.table = self.projection = None
        if self.embedding_width != self.width:
            self.projection = keras.layers.Dense(
                self.embedding_width,
                use_bias=False,
                kernel_initializer=self._initializer,
                dtype=self.dtype_policy,
                name="projection",
            )

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        if not self.is_tied:
            self.table = self.add_weight(
                name="table",
                shape=(self.vocabulary_size, self.embedding_width),
                initializer=self._initializer,
                autocast=False,
            )
        self._build_parts((None, self.width), self.projection)
        self.built = True

    @property
    def of_base(self) -> list[keras.Variable]:
        """The weights of the softmax: the table, if it has its own, and P."""
        own: list[keras.Variable] = [] if self.table is None else [self.table]
        return own if self.projection is None else [*own, *self.projection.weights]

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of `lm`, float32 [batch, positions of the decoder, vocabulary_size]."""
        return {"lm": self.project(backbone, backbone(features, training=training))}

    def project(self, backbone: Any, hidden: Tensor, at_once: int | None = None) -> Tensor:
        """Returns the logits of the next tokens after some states of the decoder.

        Args:
            hidden: Float tensor [..., width].

        Returns:
            float32 [..., vocabulary_size].
        """
        rows, table = self._rows(ops.reshape(hidden, (-1, self.width))), self._table(backbone)
        logits = ops.cast(times_rows(rows, ops.cast(table, rows.dtype), at_once), "float32")
        return reshaped(logits, (*ops.shape(hidden)[:-1], self.vocabulary_size))

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of `lm`.

        Args:
            features: Objective's features, batched, with `label_ids` and `label_weights`, [batch, positions
                of the decoder] each.
        """
        return {"lm": (features[names.LABEL_IDS], features[names.LABEL_WEIGHTS])}

    def predictions(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of `lm`, [batch, positions of the decoder]; logits are made by slices.

        Args:
            features: Objective's features, batched, with `label_ids` and `label_weights`, [batch, positions
                of the decoder] each.
        """
        return self.predictions_of_states(backbone, backbone(features, training=training), features, training)

    def predictions_of_states(
        self, backbone: Any, hidden: Tensor, features: Features, training: bool | None = None
    ) -> dict[str, Predictions]:
        """Returns the predictions of `lm`, [batch, positions of the decoder], as `predictions` does.

        Args:
            hidden: States of its decoder, float tensor [batch, positions of the decoder, width].
        """
        rows, table = self._rows(ops.reshape(hidden, (-1, self.width))), self._table(backbone)

        def losses(labels: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
            z_loss = self._z_loss("lm", training)
            return chunked_cross_entropy(rows, table, None, labels, weights, bool(training), z_loss=z_loss)

        of_tokens = features[names.LABEL_IDS], features[names.LABEL_WEIGHTS]
        return {"lm": predictions_of_losses(losses, *of_tokens)}

    def _rows(self, hidden: Tensor) -> Tensor:
        rows = ops.cast(hidden, self.compute_dtype)
        rows = rows * ops.cast(self.scale, rows.dtype) if self.scale != 1.0 else rows
        return rows if self.projection is None else self.projection(rows)

    def _table(self, backbone: Any) -> Tensor:
        return backbone.token_embedding.table if self.table is None else self.table
