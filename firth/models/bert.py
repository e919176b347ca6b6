"""The BERT backbone."""

import keras

from firth import features as names
from firth.layers import MaskedTransformer, TokenSegmentPositionEmbedding
from firth.layers.seeds import plain_seed, seed_generator


@keras.saving.register_keras_serializable(package="firth")
class BertBackbone(keras.Model):
    """Embeddings and a post-norm masked transformer: Features to hidden states.

    Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    section 3. Rows may hold several documents, which never see each other.

    Args:
        vocabulary_size: Rows of the token embeddings.
        layers: Transformer blocks.
        width: Of the hidden states.
        heads: Attention heads of a block; they divide the width.
        feed_forward_width: Of the inner layer of a block; four times the width where it is None.
        positions: Learned position embeddings, the longest document it can read.
        segments: Learned segment embeddings.
        activation: `gelu`, `gelu_approximate` or `relu`.
        dropout: Of embeddings and of each sublayer's output.
        attention_dropout: Of attention probabilities.
        norm_epsilon: Added to the variance in each layer norm.
        initializer_stddev: Of the truncated normal that weights start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.seeds`.
        dtype: A Keras dtype or policy.

    Call arguments:
        features: A dict that holds at least `token_ids`, `segment_ids`, `position_ids` and `document_ids`,
            each int32 [batch, length]; see `firth.features.encoder_specs`.
        training: Whether dropout acts.

    Raises:
        ValueError: as the layers do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> backbone = BertBackbone(vocabulary_size=10, layers=1, width=8, heads=2, positions=16)
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
        heads,
        feed_forward_width=None,
        positions=512,
        segments=2,
        activation="gelu",
        dropout=0.1,
        attention_dropout=0.1,
        norm_epsilon=1e-12,
        initializer_stddev=0.02,
        seed=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(dtype=dtype, **kwargs)
        self.seed = plain_seed(seed)
        common = {
            "dropout": dropout,
            "norm_epsilon": norm_epsilon,
            "initializer_stddev": initializer_stddev,
            "seed": seed_generator(seed),
            "dtype": self.dtype_policy,
        }
        self.embeddings = TokenSegmentPositionEmbedding(
            vocabulary_size, width, positions, segments, name="embeddings", **common
        )
        self.encoder = MaskedTransformer(
            layers,
            width,
            heads,
            feed_forward_width,
            activation,
            attention_dropout=attention_dropout,
            name="encoder",
            **common,
        )

    @property
    def token_embedding(self):
        """The token embeddings, whose `table` [vocabulary_size, width] a masked LM head shares."""
        return self.embeddings.token

    @property
    def width(self) -> int:
        """Width of the hidden states."""
        return self.embeddings.token.width

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """What dropout draws from; its `state`, int [2], is (seed, draws so far)."""
        return self.embeddings.dropout.seed_generator

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self.embeddings.build((None, None))
        self.encoder.build((None, None, self.width))

    def call(self, features, training=None):
        """Returns hidden states, a float tensor [batch, length, width] of the compute dtype."""
        hidden = self.embeddings(
            features[names.TOKEN_IDS],
            features[names.SEGMENT_IDS],
            features[names.POSITION_IDS],
            training=training,
        )
        return self.encoder(hidden, features[names.DOCUMENT_IDS], training=training)

    def compute_output_shape(self, features_shape):
        """The shape of the ids, and `width`."""
        return (*features_shape[names.TOKEN_IDS], self.width)

    def get_config(self):
        """The constructor's arguments."""
        embeddings = self.embeddings.get_config()
        own = {"vocabulary_size", "positions", "segments"}
        return {
            **self.encoder.get_config(),
            **{key: value for key, value in embeddings.items() if key in own},
            **keras.layers.Layer.get_config(self),
            "seed": self.seed,
        }
