"""The backbone of XLNet."""

from collections.abc import Mapping
from typing import ClassVar

import keras
from keras import ops

from firth import features as names
from firth.layers import Embedding
from firth.layers.blocks.two_stream_transformer import TwoStreamTransformer
from firth.layers.elements.layer import Divided
from firth.layers.elements.types import Tensor
from firth.models.backbones.backbone import Backbone, Stages, stages_of
from firth.models.features_model import Specs, token_specs
from firth.recipes.models.two_stream_transformer import (
    TwoStreamTransformerConfig as TwoStreamTransformerConfig,
)


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamTransformerBackbone(Divided, Backbone):
    """A token table and an encoder of two streams: Features to hidden states.

    Yang et al. 2019, "XLNet: Generalized Autoregressive Pretraining for Language Understanding", section 2.
    Rows may hold several documents, which never see each other. The memory of segments before (section 2.4)
    is left out: rows are independent.

    Its arguments are those of `Backbone`, with a `TwoStreamTransformerConfig` as `config`.

    Example:

    >>> import numpy as np
    >>> config = TwoStreamTransformerConfig(layers=1, width=8, attention={"heads": 2})
    >>> backbone, ones = TwoStreamTransformerBackbone(10, config), np.ones((2, 5), "int32")
    >>> tuple(backbone({"token_ids": ones, "segment_ids": ones, "document_ids": ones}).shape)
    (2, 5, 8)
    """

    divided_weights: ClassVar[Mapping[str, int]] = {"token_embedding.table": 0}

    config_type = TwoStreamTransformerConfig

    def _make(self) -> None:
        start = {"initializer_stddev": self.config.initializer_stddev, **self._common}
        self.token_embedding = Embedding(self.vocabulary_size, self.width, name="token_embedding", **start)
        # A table of one row, which every token of the query stream starts from.
        self.mask_embedding = Embedding(1, self.width, name="mask_embedding", **start)
        self.encoder = TwoStreamTransformer(self.config, name="encoder", **self._common)

    @property
    def stages(self) -> Stages:
        """Both tables, then each block."""
        return stages_of((self.token_embedding, self.mask_embedding), self.encoder)

    def _build_parts(self) -> None:
        self.token_embedding.build((None, None))
        self.mask_embedding.build((None, None))
        self.encoder.build((None, None, self.width))

    @property
    def feature_specs(self) -> Specs:
        """Tokens, documents and segments, each [batch, length]."""
        return token_specs(names.TOKEN_IDS, names.DOCUMENT_IDS, names.SEGMENT_IDS)

    def call(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the content stream, a float tensor [batch, length, width] of the compute dtype.

        Args:
            features: A dict that holds at least `token_ids`, `segment_ids` and `document_ids`, each int32
                [batch, length]; and `attention_order` where the content stream follows an order. Positions
                are known by their distance, so `position_ids` are not read.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        return self.encoder(*self._content(features), training=training)

    def query_stream(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the query stream at the predicted positions.

        Args:
            features: Features as in the call, with `attention_order` and `masked_positions`, int32
                [batch, predictions].
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor [batch, predictions, width] of the compute dtype. Each state follows from the
            tokens of its document that come before it in the order, and from its place.

        Raises:
            ValueError: if there is no `attention_order`.
        """
        features, positions = self.complete(features), features[names.MASKED_POSITIONS]
        query = self.mask_embedding(ops.zeros_like(positions))
        return self.encoder(*self._content(features), query=query, positions=positions, training=training)

    def _content(self, features: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        return (
            self.token_embedding(features[names.TOKEN_IDS]),
            features[names.DOCUMENT_IDS],
            features[names.SEGMENT_IDS],
            features.get(names.ATTENTION_ORDER),
        )
