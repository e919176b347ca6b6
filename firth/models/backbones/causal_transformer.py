"""The backbone of GPT-2, Llama and prefix language models."""

from collections.abc import Mapping

import keras
from keras import ops

from firth import features as names
from firth.layers import CausalTransformer
from firth.layers.attention.key_value_cache import Write, with_tokens
from firth.layers.blocks.transformer_stack import Cache
from firth.layers.elements.types import Tensor
from firth.models.backbones.transformer_backbone import OneStackBackbone
from firth.recipes.models.transformers import CausalTransformerConfig as CausalTransformerConfig

# Features of whole rows; a cache has some of their tokens.
_OF_ROWS = (names.DOCUMENT_IDS, names.ATTENTION_ORDER)


@keras.saving.register_keras_serializable(package="firth")
class CausalTransformerBackbone(OneStackBackbone):
    """Embeddings and a causal stack of transformer blocks: Features to hidden states.

    Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3. Rows may hold
    several documents, which never see each other.

    Its parts are attributes, and begin the paths of their weights: `token_embedding`; `embeddings`, an
    `InputEmbedding`; `projection`, a dense layer after a factorised token table, otherwise None; `decoder`,
    a `CausalTransformer`.

    Its arguments are those of `Backbone`, with a `CausalTransformerConfig` as `config`.

    Example:

    >>> import numpy as np
    >>> config = CausalTransformerConfig(layers=1, width=8, attention={"heads": 2})
    >>> backbone, ones = CausalTransformerBackbone(10, config), np.ones((2, 5), "int32")
    >>> features = {"token_ids": ones, "position_ids": ones, "document_ids": ones}
    >>> tuple(backbone(features).shape)
    (2, 5, 8)
    >>> first = {**features, "token_ids": ones[:, :1], "position_ids": ones[:, :1]}
    >>> states, cache = backbone.call_with_cache(first, backbone.empty_cache(features), index=0)
    >>> tuple(states.shape)
    (2, 1, 8)
    """

    config_type = CausalTransformerConfig
    _stack_name = "decoder"

    def _make(self) -> None:
        super()._make()
        self.decoder = CausalTransformer(
            self.config.stack,
            bidirectional_prefix=self.config.bidirectional_prefix,
            scaled_residual_initializer=self.config.scaled_residual_initializer,
            name="decoder",
            **self._common,
        )

    def call(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns hidden states, a float tensor [batch, length, width] of the compute dtype.

        Args:
            features: A dict that holds at least `token_ids`, `position_ids` and `document_ids`, each int32
                [batch, length]; see `firth.features.encoder_specs`.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        return self.virtual_tokens.without(self._read_all(features, training))

    def empty_cache(self, features: Mapping[str, Tensor]) -> Cache:
        """Returns the cache of rows of which no token has been read.

        Args:
            features: A dict that holds `document_ids`, and `attention_order` if wanted, int32 [batch,
                length], of the whole rows. Virtual tokens are read here.
        """
        rows = self.virtual_tokens.before(features)
        documents = rows[names.DOCUMENT_IDS]
        cache = self.decoder.empty_cache(*ops.shape(documents))
        if not self.virtual_tokens.length:
            return cache
        nothing = ops.zeros_like(documents[:, : self.virtual_tokens.length])
        positions = self.virtual_tokens.positions(nothing) + self.decoder.prefix_length
        vectors = self.virtual_tokens.vectors(features)
        embedded = self.embeddings(vectors, positions, segment_ids=nothing)
        return self._read_with_cache(embedded, rows, positions, cache, 0)[1]

    def call_with_cache(
        self,
        features: Mapping[str, Tensor],
        cache: Cache,
        index: Tensor | int,
        write: Write = with_tokens,
    ) -> tuple[Tensor, Cache]:
        """Reads some tokens of rows whose tokens before them have been read.

        Args:
            features: `token_ids` and `position_ids`, int32 [batch, count], of the tokens to read;
                `document_ids`, and `attention_order` if wanted, int32 [batch, length], of the whole rows.
            cache: Keys and values as `empty_cache` or the last call returned them.
            index: Place in the rows where these tokens begin: an int scalar, or int [batch] where rows differ
                in it.
            write: Function that puts keys and values into a cache, as
                `firth.layers.attention.key_value_cache.with_tokens` does.

        Returns:
            A float tensor [batch, count, width], the hidden states that the call gives for these tokens of
            the whole rows; and the new cache.
        """
        positions = features[names.POSITION_IDS] + (self.virtual_tokens.length + self.decoder.prefix_length)
        embedded = self._embed(self.embeddings, {**features, names.POSITION_IDS: positions}, None)
        rows = self.virtual_tokens.before({name: features[name] for name in _OF_ROWS if name in features})
        index = index + self.virtual_tokens.length
        return self._read_with_cache(embedded, rows, positions, cache, index, write)

    def _read_with_cache(
        self,
        embedded: Tensor,
        rows: Mapping[str, Tensor],
        positions: Tensor,
        cache: Cache,
        index: Tensor | int,
        write: Write = with_tokens,
    ) -> tuple[Tensor, Cache]:
        """Reads embedded tokens, whose place in rows that begin with the virtual tokens is `index`."""
        return self.decoder.call_with_cache(
            self._project(embedded, self.projection),
            rows[names.DOCUMENT_IDS],
            cache,
            index,
            attention_order=rows.get(names.ATTENTION_ORDER),
            position_ids=positions,
            write=write,
        )
