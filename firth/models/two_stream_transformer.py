"""The backbone of XLNet."""

import keras
from keras import ops

from firth import features as names
from firth.layers import Embedding
from firth.layers.blocks.two_stream_transformer import TwoStreamTransformer
from firth.layers.elements.seeds import plain_seed, seed_generator


@keras.saving.register_keras_serializable(package="firth")
class TwoStreamTransformerBackbone(keras.Model):
    """A token table and an encoder of two streams: Features to hidden states.

    Yang et al. 2019, "XLNet: Generalized Autoregressive Pretraining for Language Understanding", section 2.
    Rows may hold several documents, which never see each other. The memory of segments before (section 2.4)
    is left out: rows are independent.

    Args:
        vocabulary_size: Rows of the token embeddings.
        layers: Transformer blocks.
        width: Of the hidden states, an even number.
        attention: A dict: `heads`, and if wanted `head_width`, `scaled` and `dropout`.
        feed_forward: A dict: `width` of the inner layer, `activation`, `gated` and `dropout`; see
            `FeedForward`.
        norm_epsilon: Added to the variance in each layer norm.
        dropout: Of embeddings, of sinusoids, of each sublayer's output and of the hidden states.
        initializer_stddev: Of the truncated normal that weights start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy.

    Call arguments:
        features: A dict that holds at least `token_ids`, `segment_ids` and `document_ids`, each int32
            [batch, length]; and `attention_order` where the content stream follows an order. Positions are
            told apart by their distance, so `position_ids` are not read.
        training: Whether dropout acts.

    Raises:
        ValueError: as the layers do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> backbone = TwoStreamTransformerBackbone(10, layers=1, width=8, attention={"heads": 2})
    >>> ones = np.ones((2, 5), "int32")
    >>> tuple(backbone({"token_ids": ones, "segment_ids": ones, "document_ids": ones}).shape)
    (2, 5, 8)
    """

    def __init__(
        self,
        vocabulary_size,
        layers,
        width,
        attention,
        feed_forward=None,
        norm_epsilon=1e-12,
        dropout=0.1,
        initializer_stddev=0.02,
        seed=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(dtype=dtype, **kwargs)
        self.seed = plain_seed(seed)
        self.seed_generator = seed_generator(seed)
        self.width = width
        start = {"initializer_stddev": initializer_stddev, "seed": self.seed_generator}
        self.token_embedding = Embedding(
            vocabulary_size, width, dtype=self.dtype_policy, name="token_embedding", **start
        )
        # A table of one row: what every token of the query stream starts from.
        self.mask_embedding = Embedding(1, width, dtype=self.dtype_policy, name="mask_embedding", **start)
        self.encoder = TwoStreamTransformer(
            layers,
            width,
            attention,
            feed_forward,
            norm_epsilon,
            dropout,
            dtype=self.dtype_policy,
            name="encoder",
            **start,
        )

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self.token_embedding.build((None, None))
        self.mask_embedding.build((None, None))
        self.encoder.build((None, None, self.width))

    def call(self, features, training=None):
        """Returns the content stream, a float tensor [batch, length, width] of the compute dtype."""
        return self.encoder(*self._content(features), training=training)

    def query_stream(self, features, training=None):
        """Returns the query stream at the predicted positions.

        Args:
            features: As the call's, with `attention_order` and `masked_positions`, int32
                [batch, predictions].
            training: Whether dropout acts.

        Returns:
            A float tensor [batch, predictions, width] of the compute dtype. Each state follows from the
            tokens of its document that come before it in the order, and from where it stands.

        Raises:
            ValueError: if there is no `attention_order`.
        """
        positions = features[names.MASKED_POSITIONS]
        query = self.mask_embedding(ops.zeros_like(positions))
        return self.encoder(*self._content(features), query=query, positions=positions, training=training)

    def _content(self, features):
        return (
            self.token_embedding(features[names.TOKEN_IDS]),
            features[names.DOCUMENT_IDS],
            features[names.SEGMENT_IDS],
            features.get(names.ATTENTION_ORDER),
        )

    def compute_output_shape(self, features_shape):
        """The shape of the ids, and `width`."""
        return (*features_shape[names.TOKEN_IDS], self.width)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **self.encoder.get_config(),
            **keras.layers.Layer.get_config(self),
            "vocabulary_size": self.token_embedding.rows,
            "seed": self.seed,
        }
