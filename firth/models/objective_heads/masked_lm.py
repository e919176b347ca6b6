"""The heads of masked LM, and of next sentence prediction or sentence order."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import Embedding, NextSentenceHead, Pooler
from firth.layers.elements.types import Tensor, check_positions
from firth.models.heads import Features, Generator, Heads, masked_labels, masked_positions
from firth.recipes.models.transformers import MaskedTransformerConfig
from firth.recipes.objectives.masking import EnhancedMaskDecoder, MaskedLM, UniLM

_TASKS = {"nsp": "next_sentence", "sop": "sentence_order"}


@keras.saving.register_keras_serializable(package="firth")
class MaskedLMHeads(Heads):
    """Predicts the tokens of masked positions and, if asked, the relation of two segments.

    Its parts are attributes: `masked_lm_head`; `pooler` and `pair_head`, None without pairs;
    `mask_positions`, the absolute positions of DeBERTa's enhanced mask decoder, None without one.

    Example: see `firth.models.build_pretraining_model`.
    """

    def _make(self, model: MaskedTransformerConfig, objective: MaskedLM | UniLM, seed: Generator) -> None:
        start = {"seed": seed, "dtype": self.dtype_policy, "initializer_stddev": model.initializer_stddev}
        self.task = next((loss for loss in objective.losses if loss in _TASKS), None)
        self.masked_lm_head = self._make_masked_lm_head(model, self.width, seed)
        self.pooler = self.pair_head = None
        if self.task:
            self.pooler = Pooler(self.width, name="pooler", **start)
            self.pair_head = NextSentenceHead(name="pair_head", **start)
        self.mask_decoder = objective.decoder_of_masks
        self.mask_positions = build_mask_positions(self.mask_decoder, self.width, **start)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self._build_parts((None, None, self.width), self.masked_lm_head, self.pooler, self.pair_head)
        self._build_parts((None, None), self.mask_positions)
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of `mlm` [batch, predictions, vocabulary], and of `nsp` or `sop`.

        Those of pairs are [batch, documents, 2]; from features without `pooled_positions`, of the document
        that begins each row.
        """
        extra = decoding(self.mask_decoder, self.mask_positions, features)
        hidden = backbone(features, training=training, **extra)
        table = backbone.token_embedding.table
        made = {"mlm": self.masked_lm_head(hidden, masked_positions(features), table)}
        if self.task and self.pooler is not None and self.pair_head is not None:
            first = ops.zeros_like(features[names.TOKEN_IDS])[:, :1]
            made[self.task] = self.pair_head(self.pooler(hidden, features.get(names.POOLED_POSITIONS, first)))
        return made

    def labels(self, features: Features) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the labels and weights of `mlm`, and of `nsp` or `sop`.

        Args:
            features: Objective's features, batched, with `masked_labels` and `masked_weights`, [batch,
                predictions] each, and with pairs their labels.
        """
        made = {"mlm": masked_labels(features)}
        if self.task:
            task = _TASKS[self.task]
            made[self.task] = features[f"{task}_labels"], features[f"{task}_weights"]
        return made


def build_mask_positions(decoder: EnhancedMaskDecoder | None, width: int, **start: Any) -> Embedding | None:
    """Returns the table of absolute positions of a mask decoder, or None without one.

    He et al. 2020, "DeBERTa", section 3.2.

    Example:

    >>> build_mask_positions(EnhancedMaskDecoder(length=8, passes=2), width=4).rows
    8
    """
    if decoder is None:
        return None
    return Embedding(decoder.length, width, name="mask_positions", **start)


def decoding(
    decoder: EnhancedMaskDecoder | None, mask_positions: Embedding | None, features: Features
) -> dict[str, Any]:
    """Returns the arguments with which a stack decodes masked tokens, none without a decoder.

    Args:
        features: A batch's features, of which `position_ids`, int32 [batch, length], are read.

    Raises:
        ValueError: for positions beyond the table, where their values are known.
    """
    if decoder is None or mask_positions is None:
        return {}
    positions = features[names.POSITION_IDS]
    check_positions("Mask decoder", positions, **{"mask_decoder.length": decoder.length})
    return {"absolute": mask_positions(positions), "passes": decoder.passes}
