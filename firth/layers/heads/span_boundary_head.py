"""SpanBERT's head, which predicts the tokens of a span from the two tokens around it."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth.layers.elements.activations import get_activation
from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.embedding import Embedding
from firth.layers.elements.layer import Divided, Float32Layer
from firth.layers.elements.norms import LayerNorm
from firth.layers.elements.seeds import seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive, check_width
from firth.layers.heads.bert_heads import tied_logits


@keras.saving.register_keras_serializable(package="firth")
class SpanBoundaryHead(Divided, Float32Layer):
    """Logits over the vocabulary for each token of a hidden span.

    `f(f([x_l; x_r; p_i])) E^T + c`, each f being norm(activation(dense)), with x_l and x_r the states of the
    tokens just outside the span, p_i a vector of the token's place in it and E the token embeddings (Joshi
    et al. 2019, "SpanBERT", section 3.2).

    Args:
        vocabulary_size: Rows of the token embeddings.
        width: Width of the hidden states and the token embeddings.
        places: Number of places in a span that have vectors of their own, in tokens.
        activation: `gelu`, `gelu_approximate`, `relu` or `silu`.
        norm_epsilon: Number that is added to the variance in the layer norms.
        initializer_stddev: Standard deviation of the truncated normal that the kernels start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, or the last axis of the input is not `width`.

    Example:

    >>> import numpy as np
    >>> head = SpanBoundaryHead(vocabulary_size=10, width=4, places=3)
    >>> left, right, offsets = np.array([[0, 0]]), np.array([[3, 3]]), np.array([[1, 2]])
    >>> tuple(head(np.ones((1, 6, 4)), left, right, offsets, np.ones((10, 4))).shape)
    (1, 2, 10)
    """

    divided_weights: ClassVar[Mapping[str, int]] = {"bias": 0}

    keeps_places: ClassVar[bool] = False

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        places: int,
        activation: str = "gelu",
        norm_epsilon: float = 1e-12,
        initializer_stddev: float = 0.02,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("SpanBoundaryHead", vocabulary_size=vocabulary_size, width=width, places=places)
        generator = seed_generator(seed)
        self._activate = get_activation(activation)
        self._initializer = truncated_normal(initializer_stddev, generator)
        self.place = Embedding(
            places, width, initializer_stddev, seed=generator, dtype=self.dtype_policy, name="place"
        )
        self.first, self.first_norm = self._dense("first")
        self.second, self.second_norm = self._dense("second")

    def _dense(self, name: str) -> tuple[keras.layers.Layer, keras.layers.Layer]:
        dense = keras.layers.Dense(
            self.width, kernel_initializer=self._initializer, dtype=self.dtype_policy, name=name
        )
        norm = LayerNorm(epsilon=self.norm_epsilon, dtype=self.dtype_policy, name=f"{name}_norm")
        return dense, norm

    def build(
        self,
        hidden_shape: Shape,
        left_shape: Shape | None = None,
        right_shape: Shape | None = None,
        offsets_shape: Shape | None = None,
        token_table_shape: Shape | None = None,
    ) -> None:
        """Creates the vectors of places, both dense layers and norms, and `bias` [vocabulary_size].

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
            left_shape: Shape of `left`, (batch, predictions); not read.
            right_shape: Shape of `right`, (batch, predictions); not read.
            offsets_shape: Shape of `offsets`, (batch, predictions); not read.
            token_table_shape: Shape of `token_table`, (vocabulary_size, width); not read.
        """
        check_width("SpanBoundaryHead", self.width, hidden_shape)
        self.place.build((None,))
        self.first.build((None, 3 * self.width))
        self.second.build((None, self.width))
        self.first_norm.build((None, self.width))
        self.second_norm.build((None, self.width))
        self.bias = self.add_weight(
            name="bias", shape=(self.vocabulary_size,), initializer="zeros", autocast=False
        )

    def call(
        self, hidden: Tensor, left: Tensor, right: Tensor, offsets: Tensor, token_table: Tensor
    ) -> Tensor:
        """Returns float32 logits [batch, predictions, vocabulary_size].

        Args:
            hidden: Float tensor [batch, length, width].
            left: int32 [batch, predictions], position of the token before the span.
            right: int32 [batch, predictions], position of the token after the span.
            offsets: int32 [batch, predictions], place in the span, 1 to `places`; 0 where nothing is
                predicted.
            token_table: Float tensor [vocabulary_size, width], the token embeddings.
        """
        places = ops.clip(ops.cast(offsets, "int32") - 1, 0, self.places - 1)
        parts = [gather_tokens(hidden, left), gather_tokens(hidden, right), self.place(places)]
        rows = ops.reshape(
            ops.concatenate([ops.cast(part, self.compute_dtype) for part in parts], axis=-1),
            (-1, 3 * self.width),
        )
        rows = self.first_norm(self._activate(self.first(rows)))
        rows = self.second_norm(self._activate(self.second(rows)))
        return tied_logits(rows, token_table, self.bias, ops.shape(left))

    def compute_output_shape(
        self,
        hidden_shape: Shape,
        left_shape: Shape | None = None,
        right_shape: Shape | None = None,
        offsets_shape: Shape | None = None,
        token_table_shape: Shape | None = None,
    ) -> Shape:
        """The shape of the positions, and `vocabulary_size`.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width).
            left_shape: Shape of `left`, (batch, predictions); None on an axis of unknown length, and None for
                any number of predictions.
            right_shape: Shape of `right`, (batch, predictions); not read.
            offsets_shape: Shape of `offsets`, (batch, predictions); not read.
            token_table_shape: Shape of `token_table`, (vocabulary_size, width); not read.
        """
        return (*(left_shape or (hidden_shape[0], None)), self.vocabulary_size)
