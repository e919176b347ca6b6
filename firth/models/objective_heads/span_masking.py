"""The heads of span masking: masked LM, and the span boundary objective."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import SpanBoundaryHead
from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator, Heads, masked_labels, masked_positions
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.masking import SpanMasking


@keras.saving.register_keras_serializable(package="firth")
class SpanMaskingHeads(Heads):
    """Predicts the tokens of hidden spans, from their own states and from those around them.

    Joshi et al. 2019, "SpanBERT: Improving Pre-training by Representing and Predicting Spans", section 3. Its
    parts are attributes: `masked_lm_head` and `span_boundary_head`, the second None without `boundary`.

    Example: see `firth.models.build_pretraining_model`.
    """

    def _make(self, model: MaskedTransformerConfig, objective: SpanMasking, seed: Generator) -> None:
        self.masked_lm_head = self._make_masked_lm_head(model, self.width, seed)
        self.span_boundary_head = None
        if objective.boundary:
            self.span_boundary_head = SpanBoundaryHead(
                self.vocabulary_size,
                self.width,
                objective.boundary_places,
                model.feed_forward.activation,
                model.norm.epsilon,
                model.initializer_stddev,
                seed,
                dtype=self.dtype_policy,
                name="span_boundary_head",
            )

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self._build_parts((None, None, self.width), self.masked_lm_head, self.span_boundary_head)
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of `mlm`, and of `sbo` if it is trained and the features say where spans are.

        Each is float32 [batch, predictions, vocabulary].
        """
        hidden, table = backbone(features, training=training), backbone.token_embedding.table
        made = {"mlm": self.masked_lm_head(hidden, masked_positions(features), table)}
        if self.span_boundary_head is not None and names.BOUNDARY_OFFSETS in features:
            around = (features[names.BOUNDARY_LEFT], features[names.BOUNDARY_RIGHT])
            offsets = features[names.BOUNDARY_OFFSETS]
            made["sbo"] = self.span_boundary_head(hidden, *around, offsets, table)
        return made

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of `mlm` and of `sbo`.

        Args:
            features: Objective's features, batched, with `masked_labels`, `masked_weights` and, for `sbo`,
                `boundary_offsets`, [batch, predictions] each.
        """
        labels, weights = masked_labels(features)
        made = {"mlm": (labels, weights)}
        if self.span_boundary_head is not None:
            # A token with an offset of 0 is too far within its span to be predicted from outside.
            placed = ops.cast(features[names.BOUNDARY_OFFSETS] > 0, weights.dtype)
            made["sbo"] = labels, weights * placed
        return made
