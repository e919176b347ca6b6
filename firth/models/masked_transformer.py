"""The backbone of BERT and of all that differ from it by values."""

import keras

from firth import features as names
from firth.layers import MaskedTransformer
from firth.models.backbone import Backbone


@keras.saving.register_keras_serializable(package="firth")
class MaskedTransformerBackbone(Backbone):
    """Embeddings and a bidirectional stack of transformer blocks: Features to hidden states.

    Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    section 3. Rows may hold several documents, which never see each other.

    Its parts are attributes, and begin the paths of their weights: `token_embedding`; `embeddings`, an
    `InputEmbedding`; `projection`, a dense layer after a factorised token table, otherwise None; `encoder`,
    a `MaskedTransformer`.

    Args:
        vocabulary_size: Rows of the token embeddings.
        layers: Transformer blocks.
        width: Of the hidden states.
        attention: A dict: `heads`, and if wanted `key_value_heads`, `head_width`, `scaled` and `dropout`.
        feed_forward: A dict: `width`, `activation`, `gated` and `dropout`.
        norm: A dict: `kind`, `placement` and `epsilon`.
        positions: A dict: `kind` and what belongs to it; 512 learned positions where it is None.
        embeddings: A dict: `width` of the token table, `segments` and `norm`; two segments and a norm where
            it is None.
        biases: Of all projections and layer norms.
        share_layers: None, or a dict: `groups` and `blocks`; see `firth.layers.MaskedTransformer`.
        dropout: Of embeddings and of each sublayer's output.
        output_dropout: Of the states after the last block.
        initializer_stddev: Of the truncated normal that weights start from.
        scaled_initializer: Start kernels from normals of one over the root of their inputs instead, tables
            from normals that are not truncated, as T5 does.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy.

    Call arguments:
        features: A dict that holds at least `token_ids`, `position_ids` and `document_ids`, and `segment_ids`
            if there are segments, each int32 [batch, length]; with `attention_order`, it decides what a token
            sees of its document. See `firth.features.encoder_specs`.
        absolute, passes: As in `firth.layers.MaskedTransformer`: with them the last block decodes masked
            tokens.
        training: Whether dropout acts.

    Raises:
        ValueError: as the layers do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> backbone = MaskedTransformerBackbone(10, layers=1, width=8, attention={"heads": 2})
    >>> ones = np.ones((2, 5), "int32")
    >>> features = {"token_ids": ones, "segment_ids": ones, "position_ids": ones, "document_ids": ones}
    >>> tuple(backbone(features).shape)
    (2, 5, 8)
    """

    def __init__(
        self,
        vocabulary_size,
        layers,
        width,
        attention,
        feed_forward=None,
        norm=None,
        positions=None,
        embeddings=None,
        biases=True,
        share_layers=None,
        dropout=0.1,
        output_dropout=0.0,
        initializer_stddev=0.02,
        scaled_initializer=False,
        seed=None,
        dtype=None,
        **kwargs,
    ):
        config = {
            "vocabulary_size": vocabulary_size,
            "layers": layers,
            "width": width,
            "attention": attention,
            "feed_forward": feed_forward,
            "norm": norm,
            "positions": positions,
            "embeddings": {"segments": 2, "norm": True} if embeddings is None else embeddings,
            "biases": biases,
            "share_layers": share_layers,
            "dropout": dropout,
            "output_dropout": output_dropout,
            "initializer_stddev": initializer_stddev,
            "scaled_initializer": scaled_initializer,
        }
        super().__init__(config, seed, dtype, **kwargs)
        self.embeddings = self._make_embeddings("embeddings")
        self.projection = self._make_projection("projection")
        self.encoder = MaskedTransformer(**self._stack(), name="encoder")

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self._build_parts(self.embeddings, self.projection, self.encoder)

    def embed(self, features, training=None):
        """Returns the sum of all embeddings before any projection, [batch, length, embedding width]."""
        tokens = self.token_embedding(features[names.TOKEN_IDS])
        positions, segments = features[names.POSITION_IDS], features.get(names.SEGMENT_IDS)
        return self.embeddings(tokens, positions, segment_ids=segments, training=training)

    def call(self, features, absolute=None, passes=2, training=None):
        """Returns hidden states, a float tensor [batch, length, width] of the compute dtype."""
        return self.encoder(
            self._project(self.embed(features, training), self.projection),
            features[names.DOCUMENT_IDS],
            attention_order=features.get(names.ATTENTION_ORDER),
            position_ids=features[names.POSITION_IDS],
            absolute=absolute,
            passes=passes,
            training=training,
        )
