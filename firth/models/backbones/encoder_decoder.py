"""The backbone of T5 and BART."""

from collections.abc import Mapping

import keras
from keras import ops

from firth import features as names
from firth.layers import CausalTransformer, MaskedTransformer
from firth.layers.attention.key_value_cache import Write, with_tokens
from firth.layers.blocks.transformer_stack import Cache
from firth.layers.elements.types import Shape, Tensor
from firth.models.backbones.backbone import Stages, stages_of
from firth.models.backbones.transformer_backbone import TransformerBackbone, after_prefix
from firth.models.features_model import Specs, token_specs
from firth.recipes.models.transformers import EncoderDecoderConfig as EncoderDecoderConfig


@keras.saving.register_keras_serializable(package="firth")
class EncoderDecoderBackbone(TransformerBackbone):
    """A bidirectional encoder, and a causal decoder that attends to it: Features to the decoder's states.

    Raffel et al. 2019, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    section 2.1. Rows may hold several documents on each side: a decoder's token attends to the document of
    the encoder that has its id, and to no other.

    Its parts are attributes, and begin the paths of their weights: `token_embedding`, which both stacks read;
    for each stack an `InputEmbedding`, `encoder_embeddings` and `decoder_embeddings`, and a dense layer
    after a factorised token table, `encoder_projection` and `decoder_projection`, otherwise None; `encoder`
    and `decoder`. With `share_encoder_decoder` both sides are one, under the decoder's names; relative
    buckets tell both directions apart then, in the decoder too.

    Its arguments are those of `Backbone`, with an `EncoderDecoderConfig` as `config`.

    Example:

    >>> import numpy as np
    >>> config = EncoderDecoderConfig(layers=1, width=8, attention={"heads": 2})
    >>> backbone, ones = EncoderDecoderBackbone(10, config), np.ones((2, 5), "int32")
    >>> features = {"token_ids": ones, "position_ids": ones, "document_ids": ones}
    >>> features |= {f"decoder_{name}": value[:, :3] for name, value in features.items()}
    >>> tuple(backbone(features).shape)
    (2, 3, 8)
    """

    config_type = EncoderDecoderConfig
    _places = names.DECODER_TOKEN_IDS

    def _make(self) -> None:
        super()._make()
        self.is_shared = self.config.share_encoder_decoder
        self.decoder_embeddings = self._make_embeddings("decoder_embeddings")
        self.decoder_projection = self._make_projection("decoder_projection")
        self.decoder = CausalTransformer(
            self.config.decoder_stack,
            cross_attention=True,
            bidirectional_prefix=self.is_shared,
            name="decoder",
            **self._common,
        )
        if self.is_shared:
            parts = self.decoder_embeddings, self.decoder_projection, self.decoder
            self.encoder_embeddings, self.encoder_projection, self.encoder = parts
        else:
            self.encoder_embeddings = self._make_embeddings("encoder_embeddings")
            self.encoder_projection = self._make_projection("encoder_projection")
            self.encoder = MaskedTransformer(self.config.stack, name="encoder", **self._common)

    @property
    def own_encoder(self) -> keras.layers.Layer | None:
        """The encoder, unless both sides are one."""
        return None if self.is_shared else self.encoder

    @property
    def stages(self) -> Stages:
        """Embeddings of both sides, then the blocks of encoder and decoder side by side."""
        before = [self.token_embedding, self.decoder_embeddings, self.decoder_projection]
        if self.is_shared:
            return stages_of(before, self.decoder)
        before += [self.encoder_embeddings, self.encoder_projection]
        return stages_of(before, self.encoder, self.decoder)

    def _build_parts(self) -> None:
        self._build_side(self.encoder_embeddings, self.encoder_projection, self.encoder)
        self._build_side(self.decoder_embeddings, self.decoder_projection, self.decoder)

    def encode(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the encoder's states, a float tensor [batch, virtual tokens + length, width].

        It has the compute dtype; virtual tokens are those that a method has put before each row, usually
        none.

        Args:
            features: Features as in the call; those of the decoder are not read.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        features = self._with_additions(self.complete(features), self.encoder)
        # The decoder is the encoder: where all tokens have the same place in the order, each sees all.
        order = ops.zeros_like(features[names.DOCUMENT_IDS]) if self.is_shared else None
        parts = self.encoder_embeddings, self.encoder_projection, self.encoder
        return self._read(parts, features, training, attention_order=order)

    def encoder_states(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the encoder's states of the tokens, a float tensor [batch, length, width].

        Args:
            features: Features as in the call; those of the decoder are not read.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        return self.virtual_tokens.without(self.encode(features, training))

    def decode(self, features: Mapping[str, Tensor], encoded: Tensor, training: bool | None = None) -> Tensor:
        """Returns the decoder's states, a float tensor [batch, target length, width] of the compute dtype.

        Args:
            features: Features as in the call; of those of the encoder only `document_ids` is read.
            encoded: Float tensor [batch, virtual tokens + length, width] that `encode` returned.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        features = after_prefix(self.complete(features), names.DECODER_POSITION_IDS, self.decoder)
        return self.decoder(
            self._embed_target(features, training),
            features[names.DECODER_DOCUMENT_IDS],
            position_ids=features[names.DECODER_POSITION_IDS],
            context=encoded,
            context_document_ids=self._encoded_documents(features),
            training=training,
        )

    @property
    def feature_specs(self) -> Specs:
        """Tokens, positions and documents of both sides, each [batch, length]."""
        own = token_specs(names.DECODER_TOKEN_IDS, names.DECODER_POSITION_IDS, names.DECODER_DOCUMENT_IDS)
        return {**super().feature_specs, **own}

    def call(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the decoder's states, a float tensor [batch, target length, width].

        Args:
            features: A dict that holds `token_ids`, `position_ids` and `document_ids`, each int32 [batch,
                length], and `decoder_token_ids`, `decoder_position_ids` and `decoder_document_ids`, each
                int32 [batch, target length]; see `firth.features.decoder_specs`.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor [batch, target length, width] of the compute dtype, the decoder's states.
        """
        return self.decode(features, self.encode(features, training), training)

    def empty_cache(self, features: Mapping[str, Tensor]) -> Cache:
        """Returns the cache of rows of which the encoder has read all, and the decoder no token.

        Args:
            features: Features of the encoder, as in the call, and `decoder_document_ids`, int32 [batch,
                target length], of the whole rows.

        Returns:
            For each layer of the decoder its own keys and values, zeros, and those of the encoder's states.
        """
        batch, length = ops.shape(features[names.DECODER_DOCUMENT_IDS])
        return self.decoder.empty_cache(batch, length, self.encode(features))

    def call_with_cache(
        self,
        features: Mapping[str, Tensor],
        cache: Cache,
        index: Tensor | int,
        write: Write = with_tokens,
    ) -> tuple[Tensor, Cache]:
        """Reads some of the decoder's tokens, of rows whose tokens before them have been read.

        Args:
            features: `decoder_token_ids` and `decoder_position_ids`, int32 [batch, count], of the tokens to
                read; `decoder_document_ids`, int32 [batch, target length], and `document_ids`, int32
                [batch, length], of the whole rows.
            cache: Keys and values as `empty_cache` or the last call returned them.
            index: Place in the decoder's rows where these tokens begin: an int scalar, or int [batch] where
                rows differ in it.
            write: Function that puts keys and values into a cache, as
                `firth.layers.attention.key_value_cache.with_tokens` does.

        Returns:
            A float tensor [batch, count, width], the hidden states that the call gives for these tokens of
            the whole rows; and the new cache.
        """
        features = after_prefix(features, names.DECODER_POSITION_IDS, self.decoder)
        return self.decoder.call_with_cache(
            self._embed_target(features),
            features[names.DECODER_DOCUMENT_IDS],
            cache,
            index,
            position_ids=features[names.DECODER_POSITION_IDS],
            context_document_ids=self._encoded_documents(features),
            write=write,
        )

    def _encoded_documents(self, features: Mapping[str, Tensor]) -> Tensor:
        """Returns the documents of the encoder's states, int32 [batch, virtual tokens + length]."""
        documents = {names.DOCUMENT_IDS: features[names.DOCUMENT_IDS]}
        return self.virtual_tokens.before(documents)[names.DOCUMENT_IDS]

    def _embed_target(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        ids = names.DECODER_TOKEN_IDS, names.DECODER_POSITION_IDS
        embedded = self._embed(self.decoder_embeddings, features, training, *ids)
        return self._project(embedded, self.decoder_projection)

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """The shape of the decoder's ids, and `width`.

        Args:
            features_shape: Shapes of the features by their names; that of `decoder_token_ids` is (batch,
                target length).
        """
        return (*features_shape[names.DECODER_TOKEN_IDS], self.width)
