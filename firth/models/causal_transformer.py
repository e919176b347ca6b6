"""The backbone of GPT-2, Llama and prefix language models."""

import keras

from firth import features as names
from firth.layers import CausalTransformer
from firth.models.backbone import Backbone


@keras.saving.register_keras_serializable(package="firth")
class CausalTransformerBackbone(Backbone):
    """Embeddings and a causal stack of transformer blocks: Features to hidden states.

    Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3. Rows may hold
    several documents, which never see each other.

    Its parts are attributes, and begin the paths of their weights: `token_embedding`; `embeddings`, an
    `InputEmbedding`; `projection`, a dense layer after a factorised token table, otherwise None; `decoder`,
    a `CausalTransformer`.

    Args:
        vocabulary_size, layers, width, attention, feed_forward, norm, positions, biases, share_layers,
            dropout, output_dropout, initializer_stddev, scaled_initializer, seed, dtype: As in
            `MaskedTransformerBackbone`.
        embeddings: A dict: `width` of the token table, `segments` and `norm`; neither of the last two where
            it is None.
        tied_output: For the head: whether the vocabulary projection is the token table.
        bidirectional_prefix: With `attention_order` among the features, it alone decides what a token sees of
            its document, also after it.
        scaled_residual_initializer: Start the projections that end a sublayer from a stddev divided by the
            root of the number of sublayers.

    Call arguments:
        features: A dict that holds at least `token_ids`, `position_ids` and `document_ids`, each int32
            [batch, length]; see `firth.features.encoder_specs`.
        training: Whether dropout acts.

    Raises:
        ValueError: as the layers do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> backbone = CausalTransformerBackbone(10, layers=1, width=8, attention={"heads": 2})
    >>> ones = np.ones((2, 5), "int32")
    >>> tuple(backbone({"token_ids": ones, "position_ids": ones, "document_ids": ones}).shape)
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
        tied_output=True,
        bidirectional_prefix=False,
        scaled_residual_initializer=False,
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
            "embeddings": embeddings,
            "biases": biases,
            "share_layers": share_layers,
            "dropout": dropout,
            "output_dropout": output_dropout,
            "initializer_stddev": initializer_stddev,
            "scaled_initializer": scaled_initializer,
            "tied_output": tied_output,
            "bidirectional_prefix": bidirectional_prefix,
            "scaled_residual_initializer": scaled_residual_initializer,
        }
        super().__init__(config, seed, dtype, **kwargs)
        self.embeddings = self._make_embeddings("embeddings")
        self.projection = self._make_projection("projection")
        self.decoder = CausalTransformer(
            **self._stack(),
            bidirectional_prefix=bidirectional_prefix,
            scaled_residual_initializer=scaled_residual_initializer,
            name="decoder",
        )

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self._build_parts(self.embeddings, self.projection, self.decoder)

    def call(self, features, training=None):
        """Returns hidden states, a float tensor [batch, length, width] of the compute dtype."""
        return self._decode(features, training=training)

    def call_with_cache(self, features, cache, index):
        """Reads some tokens of rows whose tokens before them have been read.

        Args:
            features: `token_ids` and `position_ids`, int32 [batch, count], of the tokens to read;
                `document_ids`, and `attention_order` if wanted, int32 [batch, length], of the whole rows.
            cache: As `empty_cache` or the last call returned it.
            index: Int scalar, where in the rows these tokens begin.

        Returns:
            Their hidden states [batch, count, width], and the new cache.
        """
        return self._decode(features, cache=cache, index=index)

    def empty_cache(self, batch, length):
        """Returns the cache of `batch` rows of `length` tokens of which none has been read."""
        return self.decoder.empty_cache(batch, length)

    def _decode(self, features, **arguments):
        positions, training = features[names.POSITION_IDS], arguments.get("training")
        tokens = self.token_embedding(features[names.TOKEN_IDS])
        segments = features.get(names.SEGMENT_IDS)
        embedded = self.embeddings(tokens, positions, segment_ids=segments, training=training)
        return self.decoder(
            self._project(embedded, self.projection),
            features[names.DOCUMENT_IDS],
            attention_order=features.get(names.ATTENTION_ORDER),
            position_ids=positions,
            **arguments,
        )
