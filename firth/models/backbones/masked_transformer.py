"""The backbone of BERT and its variants."""

from collections.abc import Mapping

import keras
from keras import ops

from firth.layers import MaskedTransformer
from firth.layers.elements.types import Tensor
from firth.models.backbones.transformer_backbone import OneStackBackbone
from firth.recipes.models.transformers import MaskedTransformerConfig as MaskedTransformerConfig


@keras.saving.register_keras_serializable(package="firth")
class MaskedTransformerBackbone(OneStackBackbone):
    """Embeddings and a bidirectional stack of transformer blocks: Features to hidden states.

    Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    section 3. Rows may hold several documents, which never see each other.

    Its parts are attributes, and begin the paths of their weights: `token_embedding`; `embeddings`, an
    `InputEmbedding`; `projection`, a dense layer after a factorised token table, otherwise None; `encoder`,
    a `MaskedTransformer`.

    Its arguments are those of `Backbone`, with a `MaskedTransformerConfig` as `config`.

    Example:

    >>> import numpy as np
    >>> config = MaskedTransformerConfig(layers=1, width=8, attention={"heads": 2})
    >>> backbone, ones = MaskedTransformerBackbone(10, config), np.ones((2, 5), "int32")
    >>> features = {"token_ids": ones, "segment_ids": ones, "position_ids": ones, "document_ids": ones}
    >>> tuple(backbone(features).shape)
    (2, 5, 8)
    """

    config_type = MaskedTransformerConfig
    _stack_name = "encoder"

    def _make(self) -> None:
        super()._make()
        self.encoder = MaskedTransformer(self.config.stack, name="encoder", **self._common)

    def embed(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the sum of all embeddings before any projection, [batch, length, embedding width].

        Args:
            features: Features as in the call.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        return self._embed(self.embeddings, self.complete(features), training)

    def states_at(  # noqa: D102
        self, features: Mapping[str, Tensor], wanted: Tensor, training: bool | None = None
    ) -> Tensor:
        # The last block computes no other states.
        return self(features, wanted=wanted, training=training)

    def call(
        self,
        features: Mapping[str, Tensor],
        absolute: Tensor | None = None,
        passes: int = 2,
        wanted: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns hidden states, a float tensor [batch, length or wanted, width] of the compute dtype.

        Args:
            features: A dict that holds at least `token_ids`, `position_ids` and `document_ids`, and
                `segment_ids` if there are segments, each int32 [batch, length]; with `attention_order`, it
                decides what a token sees of its document. See `firth.features.encoder_specs`.
            absolute: Float tensor [batch, length, width], vectors of absolute positions, with which the last
                block decodes masked tokens; see `firth.layers.MaskedTransformer`. None to decode nothing.
            passes: Number of times that the last block is then applied.
            wanted: int32 [batch, wanted], places of the tokens whose states are returned, without `absolute`.
                None for all; see `firth.layers.MaskedTransformer` for what they spare.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        virtual = self.virtual_tokens
        if absolute is not None:
            absolute = ops.pad(absolute, ((0, 0), (virtual.length, 0), (0, 0)))
        if wanted is not None:
            wanted = wanted + virtual.length
        states = self._read_all(features, training, absolute=absolute, passes=passes, wanted=wanted)
        return virtual.without(states) if wanted is None else states
