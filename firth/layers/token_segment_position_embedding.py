"""What a token is, which segment it belongs to and where it stands, as one vector."""

import keras

from firth.layers.dropout import Dropout
from firth.layers.embedding import Embedding
from firth.layers.seeds import plain_seed, seed_generator


@keras.saving.register_keras_serializable(package="firth")
class TokenSegmentPositionEmbedding(keras.layers.Layer):
    """The sum of token, segment and position embeddings, normed.

    `dropout(norm(token[t] + segment[s] + position[p]))` (Devlin et al. 2018, section 3 and figure 2).
    Positions are given, not counted, because they start again with each document of a packed row.

    Args:
        vocabulary_size: Rows of the token table.
        width: Of the embeddings.
        positions: Rows of the position table.
        segments: Rows of the segment table.
        dropout: Share of the result that is dropped in training.
        norm_epsilon: Added to the variance in the layer norm.
        initializer_stddev: Of the truncated normal that the tables start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.seeds`.

    Call arguments:
        token_ids, segment_ids, position_ids: int32 [batch, length].
        training: Whether dropout acts.

    Raises:
        ValueError: if a number is below 1.

    Example:

    >>> import numpy as np
    >>> ids = np.array([[3, 1, 0]])
    >>> layer = TokenSegmentPositionEmbedding(vocabulary_size=10, width=4, positions=8)
    >>> tuple(layer(ids, ids * 0, ids * 0).shape)
    (1, 3, 4)
    """

    def __init__(
        self,
        vocabulary_size,
        width,
        positions=512,
        segments=2,
        dropout=0.0,
        norm_epsilon=1e-12,
        initializer_stddev=0.02,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.seed = plain_seed(seed)
        shared = seed_generator(seed)
        # The tables' rows are summed in the precision of the variables, also under mixed precision.
        table = {"initializer_stddev": initializer_stddev, "seed": shared, "dtype": self.variable_dtype}
        self.token = Embedding(vocabulary_size, width, name="token", **table)
        self.segment = Embedding(segments, width, name="segment", **table)
        self.position = Embedding(positions, width, name="position", **table)
        self.norm = keras.layers.LayerNormalization(
            epsilon=norm_epsilon, dtype=self.dtype_policy, name="norm"
        )
        self.dropout = Dropout(dropout, seed=shared, dtype=self.dtype_policy, name="dropout")

    def build(self, token_ids_shape, segment_ids_shape=None, position_ids_shape=None):
        """Creates the three tables and the norm."""
        for table in (self.token, self.segment, self.position):
            table.build(token_ids_shape)
        self.norm.build((*token_ids_shape, self.token.width))
        self.dropout.build((*token_ids_shape, self.token.width))

    def call(self, token_ids, segment_ids, position_ids, training=None):
        """Returns a float tensor [batch, length, width]."""
        total = self.token(token_ids) + self.segment(segment_ids) + self.position(position_ids)
        return self.dropout(self.norm(total), training=training)

    def compute_output_shape(self, token_ids_shape, segment_ids_shape=None, position_ids_shape=None):
        """The shape of the ids, and `width`."""
        return (*token_ids_shape, self.token.width)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.token.rows,
            "width": self.token.width,
            "positions": self.position.rows,
            "segments": self.segment.rows,
            "dropout": self.dropout.rate,
            "norm_epsilon": self.norm.epsilon,
            "initializer_stddev": self.token.initializer_stddev,
            "seed": self.seed,
        }
