"""The bidirectional transformer encoder over packed rows."""

import keras

from firth.layers.checks import check_positive
from firth.layers.document_mask import document_bias
from firth.layers.post_norm_block import PostNormBlock
from firth.layers.seeds import plain_seed, seed_generator


@keras.saving.register_keras_serializable(package="firth")
class MaskedTransformer(keras.layers.Layer):
    """A stack of post-norm transformer blocks in which every token sees its whole document.

    The encoder of BERT (Devlin et al. 2018, section 3) for rows that hold several documents: a token attends
    to the tokens of its own document only, in both directions. Padding sees padding only, so its states are
    finite and reach no document.

    Args:
        layers: Blocks.
        width: Of the hidden states.
        heads: Attention heads of a block; they divide the width.
        feed_forward_width: Of the inner layer of a block; four times the width where it is None.
        activation: `gelu`, `gelu_approximate` or `relu`.
        dropout: Share of each sublayer's output that is dropped in training.
        attention_dropout: Share of the attention probabilities that is dropped in training.
        norm_epsilon: Added to the variance in each layer norm.
        initializer_stddev: Of the truncated normal that the kernels start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.seeds`.
        dtype: A Keras dtype or policy. Under `mixed_bfloat16` matmuls run in bfloat16, softmax and norms in
            float32.

    Call arguments:
        hidden: Float tensor [batch, length, width].
        document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other.
        training: Whether dropout acts.

    Raises:
        ValueError: as the parts do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> encoder = MaskedTransformer(layers=2, width=8, heads=2)
    >>> tuple(encoder(np.ones((1, 4, 8)), np.array([[1, 1, 2, 0]])).shape)
    (1, 4, 8)
    """

    def __init__(
        self,
        layers,
        width,
        heads,
        feed_forward_width=None,
        activation="gelu",
        dropout=0.1,
        attention_dropout=0.1,
        norm_epsilon=1e-12,
        initializer_stddev=0.02,
        seed=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_positive("MaskedTransformer", layers=layers, width=width, heads=heads)
        self.seed = plain_seed(seed)
        self._block_config = {
            "width": width,
            "heads": heads,
            "feed_forward_width": 4 * width if feed_forward_width is None else feed_forward_width,
            "activation": activation,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "norm_epsilon": norm_epsilon,
            "initializer_stddev": initializer_stddev,
        }
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        self.blocks = [
            PostNormBlock(name=f"block_{index}", **self._block_config, **common) for index in range(layers)
        ]

    def build(self, hidden_shape, document_ids_shape=None):
        """Creates the weights of every block."""
        for block in self.blocks:
            block.build(hidden_shape)

    def call(self, hidden, document_ids, training=None):
        """Returns a float tensor [batch, length, width]."""
        bias = document_bias(document_ids)
        for block in self.blocks:
            hidden = block(hidden, bias, training=training)
        return hidden

    def compute_output_shape(self, hidden_shape, document_ids_shape=None):
        """The shape of `hidden`."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "layers": len(self.blocks),
            **self._block_config,
            "seed": self.seed,
        }
