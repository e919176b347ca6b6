"""BERT's heads: masked language model and next sentence, and logits by the table of tokens."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth.layers.elements.activations import get_activation
from firth.layers.elements.custom_gradient import gather_tokens, times_transposed
from firth.layers.elements.layer import Divided, Float32Layer
from firth.layers.elements.norms import LayerNorm
from firth.layers.elements.seeds import seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive, check_width


@keras.saving.register_keras_serializable(package="firth")
class MaskedLMHead(Divided, Float32Layer):
    """Logits over the vocabulary at the masked positions, and nowhere else.

    `norm(gelu(h W + b)) E^T + c` with E the token embeddings (Devlin et al. 2018, section 3.1, "Task #1", and
    the reference code's `get_masked_lm_output`). Positions are gathered first: the vocabulary projection is
    the largest matmul of a small model, and six of seven positions are not predicted.

    Args:
        vocabulary_size: Rows of the token embeddings.
        width: Width of the hidden states.
        activation: `gelu`, `gelu_approximate`, `relu` or `silu`.
        norm_epsilon: Number that is added to the variance in the layer norm.
        embedding_width: Width of the token embeddings and of the dense layer; `width` where it is None.
            ALBERT's and ELECTRA's are narrower than their hidden states.
        initializer_stddev: Standard deviation of the truncated normal that the dense kernel starts from.
        biases: Whether the dense layer and the norm have biases; the logits have one in any case.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, or the last axis of the input is not `width`.

    Example:

    >>> import numpy as np
    >>> head = MaskedLMHead(vocabulary_size=10, width=4)
    >>> tuple(head(np.ones((2, 6, 4)), np.array([[0, 5, 1], [2, 0, 0]]), np.ones((10, 4))).shape)
    (2, 3, 10)
    """

    divided_weights: ClassVar[Mapping[str, int]] = {"bias": 0}

    keeps_places: ClassVar[bool] = False

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        activation: str = "gelu",
        norm_epsilon: float = 1e-12,
        embedding_width: int | None = None,
        initializer_stddev: float = 0.02,
        biases: bool = True,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("MaskedLMHead", vocabulary_size=vocabulary_size, width=width)
        self.embedding_width = width if embedding_width is None else embedding_width
        check_positive("MaskedLMHead", embedding_width=self.embedding_width)
        self._activate = get_activation(activation)
        kernel = truncated_normal(initializer_stddev, seed_generator(seed))
        self.dense = keras.layers.Dense(
            self.embedding_width,
            use_bias=biases,
            kernel_initializer=kernel,
            dtype=self.dtype_policy,
            name="dense",
        )
        self.norm = LayerNorm(epsilon=norm_epsilon, center=biases, dtype=self.dtype_policy, name="norm")

    def build(
        self,
        hidden_shape: Shape,
        masked_positions_shape: Shape | None = None,
        token_table_shape: Shape | None = None,
    ) -> None:
        """Creates the dense layer, the norm and `bias` [vocabulary_size].

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
            masked_positions_shape: Shape of `masked_positions`, (batch, predictions); not read.
            token_table_shape: Shape of `token_table`, (vocabulary_size, embedding_width); not read.
        """
        check_width("MaskedLMHead", self.width, hidden_shape)
        self.dense.build((None, self.width))
        self.norm.build((None, self.embedding_width))
        self.bias = self.add_weight(
            name="bias", shape=(self.vocabulary_size,), initializer="zeros", autocast=False
        )

    def call(self, hidden: Tensor, masked_positions: Tensor, token_table: Tensor) -> Tensor:
        """Returns float32 logits [batch, predictions, vocabulary_size].

        Args:
            hidden: Float tensor [batch, length, width].
            masked_positions: int32 [batch, predictions], places of the predicted tokens in their rows.
            token_table: Float tensor [vocabulary_size, embedding_width], the token embeddings.
        """
        rows = ops.reshape(gather_tokens(hidden, masked_positions), (-1, self.width))
        rows = self.norm(self._activate(self.dense(rows)))
        return tied_logits(rows, token_table, self.bias, ops.shape(masked_positions))

    def compute_output_shape(
        self,
        hidden_shape: Shape,
        masked_positions_shape: Shape | None = None,
        token_table_shape: Shape | None = None,
    ) -> Shape:
        """The shape of the positions, and `vocabulary_size`.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width).
            masked_positions_shape: Shape of `masked_positions`, (batch, predictions); None on an axis of
                unknown length, and None for any number of predictions.
            token_table_shape: Shape of `token_table`, (vocabulary_size, embedding_width); not read.
        """
        return (*(masked_positions_shape or (hidden_shape[0], None)), self.vocabulary_size)


@keras.saving.register_keras_serializable(package="firth")
class NextSentenceHead(Float32Layer):
    """Two logits from each pooled vector: 0, the segments belong together; 1, the second is a random one.

    `c W + b` (Devlin et al. 2018, section 3.1, "Task #2: Next Sentence Prediction").

    Args:
        initializer_stddev: Standard deviation of the truncated normal that the kernel starts from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Example:

    >>> import numpy as np
    >>> tuple(NextSentenceHead()(np.ones((2, 3, 4))).shape)
    (2, 3, 2)
    """

    def __init__(self, initializer_stddev: float = 0.02, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        kernel = truncated_normal(initializer_stddev, seed_generator(seed))
        self.dense = keras.layers.Dense(2, kernel_initializer=kernel, dtype=self.dtype_policy, name="dense")

    def build(self, pooled_shape: Shape) -> None:
        """Creates the dense layer's weights.

        Args:
            pooled_shape: Shape of `pooled`, (batch, documents, width); None on an axis of unknown length.
        """
        self.dense.build(pooled_shape)

    def call(self, pooled: Tensor) -> Tensor:
        """Returns float32 logits [batch, documents, 2].

        Args:
            pooled: Float tensor [batch, documents, width].
        """
        return ops.cast(self.dense(pooled), "float32")

    def compute_output_shape(self, pooled_shape: Shape) -> Shape:
        """The shape of the vectors, with two logits instead of the width.

        Args:
            pooled_shape: Shape of `pooled`, (batch, documents, width); None on an axis of unknown length.
        """
        return (*pooled_shape[:-1], 2)


def tied_logits(rows: Tensor, table: Tensor, bias: Tensor, places: Shape) -> Tensor:
    """Returns the logits of every token, by the table of token embeddings (Press and Wolf 2016, section 3).

    Args:
        rows: Float tensor [count, width].
        table: Float tensor [vocabulary_size, width].
        bias: Float32 tensor [vocabulary_size].

    Returns:
        float32 [*places, vocabulary_size].
    """
    logits = times_transposed(rows, ops.cast(table, rows.dtype))
    logits = ops.add(ops.cast(logits, "float32"), ops.cast(bias, "float32"))
    return ops.reshape(logits, (*places, bias.shape[0]))
