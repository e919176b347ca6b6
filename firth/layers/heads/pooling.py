"""Pooling: one vector for each document of a row, by `[CLS]`, by attention or by the mean."""

from typing import Any, ClassVar

import keras
from keras import ops

from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.layer import Layer, document_ids_of, mask_of
from firth.layers.elements.seeds import seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive, check_width

_NEVER = -1e9


@keras.saving.register_keras_serializable(package="firth")
class Pooler(Layer):
    """Projects the hidden state of each document's `[CLS]`.

    `tanh(h[p] W + b)` (Devlin et al. 2018, section 3.1, "Task #2": the vector C).

    Args:
        width: Width of the hidden states and of the result.
        initializer_stddev: Standard deviation of the truncated normal that the kernel starts from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if `width` is below 1, or the last axis of the input is not `width`.

    Example:

    >>> import numpy as np
    >>> tuple(Pooler(width=4)(np.ones((2, 6, 4)), np.array([[0, 3], [0, 0]])).shape)
    (2, 2, 4)
    """

    keeps_places: ClassVar[bool] = False

    def __init__(
        self, width: int, initializer_stddev: float = 0.02, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_positive("Pooler", width=width)
        kernel = truncated_normal(initializer_stddev, seed_generator(seed))
        self.dense = keras.layers.Dense(
            self.width, activation="tanh", kernel_initializer=kernel, dtype=self.dtype_policy, name="dense"
        )

    def build(self, hidden_shape: Shape, pooled_positions_shape: Shape | None = None) -> None:
        """Creates the dense layer's weights.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
            pooled_positions_shape: Shape of `pooled_positions`, (batch, documents); not read.
        """
        check_width("Pooler", self.width, hidden_shape)
        self.dense.build((None, self.width))

    def call(self, hidden: Tensor, pooled_positions: Tensor | None = None) -> Tensor:
        """Returns a float tensor [batch, documents, width].

        Args:
            hidden: Float tensor [batch, length, width].
            pooled_positions: int32 [batch, documents], places of each `[CLS]`; None for the first place.
        """
        if pooled_positions is None:
            return self.dense(ops.cast(hidden[:, :1], self.compute_dtype))
        return self.dense(gather_tokens(hidden, pooled_positions))

    def compute_output_shape(self, hidden_shape: Shape, pooled_positions_shape: Shape | None = None) -> Shape:
        """The shape of the positions, and `width`.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width).
            pooled_positions_shape: Shape of `pooled_positions`, (batch, documents); None on an axis of
                unknown length, and None for the first place alone.
        """
        places = (hidden_shape[0], 1) if pooled_positions_shape is None else pooled_positions_shape
        return (*places, self.width)


@keras.saving.register_keras_serializable(package="firth")
class AttentionPooling(Layer):
    """One vector of each document of a row: its states, weighted by how near they are to a learned vector.

    `sum over t of a_t h_t`, where `a` is the softmax over a document of `u . tanh(W h_t + b)` (Yang et al.
    2016, "Hierarchical Attention Networks for Document Classification", section 2.2).

    Args:
        width: Width of the hidden states and of the result.
        initializer_stddev: Standard deviation of the truncated normal that the kernel and `u` start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if `width` is below 1, or the last axis of the input is not `width`.

    Example:

    >>> import numpy as np
    >>> pooling = AttentionPooling(width=2)
    >>> hidden = np.array([[[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]]])
    >>> np.round(pooling(hidden, np.array([[1, 1, 2]]), documents=3), 4).tolist()
    [[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]]
    """

    keeps_places: ClassVar[bool] = False

    def __init__(
        self, width: int, initializer_stddev: float = 0.02, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        check_positive("AttentionPooling", width=width)
        self._start = truncated_normal(initializer_stddev, seed_generator(seed))
        self.dense = keras.layers.Dense(
            width, activation="tanh", kernel_initializer=self._start, dtype=self.dtype_policy, name="dense"
        )

    def build(self, hidden_shape: Shape, document_ids_shape: Shape | None = None) -> None:
        """Creates the dense layer's weights, and `context` [width].

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.
        """
        check_width("AttentionPooling", self.width, hidden_shape)
        self.dense.build((None, None, self.width))
        self.context = self.add_weight(
            name="context", shape=(self.width,), initializer=self._start, autocast=False
        )

    def call(
        self,
        hidden: Tensor,
        document_ids: Tensor | None = None,
        documents: int = 1,
        mask: Tensor | None = None,
        hidden_mask: Tensor | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, documents, width]; zeros for a document that is not there.

        Args:
            hidden: Float tensor [batch, length, width].
            document_ids: Int tensor [batch, length], 0 on tokens that are not read and i + 1 on document i;
                None for rows of one document.
            documents: Most documents of a row.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            hidden_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
        """
        document_ids = document_ids_of(hidden, document_ids, mask_of(mask, hidden_mask))
        scores = ops.matmul(ops.cast(self.dense(hidden), "float32"), ops.expand_dims(self.context, -1))
        places = ops.reshape(ops.arange(1, documents + 1, dtype="int32"), (1, -1, 1))
        belongs = ops.equal(ops.expand_dims(ops.cast(document_ids, "int32"), 1), places)
        own = ops.where(belongs, ops.swapaxes(scores, 1, 2), _NEVER)
        shares = ops.softmax(own, axis=-1) * ops.cast(belongs, "float32")
        return ops.cast(ops.matmul(shares, ops.cast(hidden, "float32")), self.compute_dtype)

    def compute_output_spec(
        self, hidden: Tensor, document_ids: Tensor | None = None, documents: int = 1, **named: Any
    ) -> keras.KerasTensor:
        """The shape of `compute_output_shape`, which Keras would call without the number of documents.

        Args:
            hidden: Float tensor [batch, length, width].
            document_ids: Int tensor [batch, length]; not read.
            documents: Most documents of a row.
            **named: Other arguments of the call; not read.
        """
        shape = self.compute_output_shape(hidden.shape, documents=documents)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def compute_output_shape(
        self, hidden_shape: Shape, document_ids_shape: Shape | None = None, documents: int = 1
    ) -> Shape:
        """The shape of the states, with a place for each document.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.
            documents: Most documents of a row.
        """
        return (hidden_shape[0], documents, hidden_shape[-1])


def document_means(hidden: Tensor, document_ids: Tensor, documents: int) -> Tensor:
    """Returns the mean of the hidden states of each document of a row, special tokens among them.

    It is the mean pooling of sentence encoders (Reimers and Gurevych 2019, section 3).

    Args:
        hidden: Float tensor [batch, length, width].
        document_ids: Int tensor [batch, length], 0 on padding and i + 1 on document i.

    Returns:
        Float tensor [batch, documents, width]; zeros for a document that is not there.

    Example:

    >>> import numpy as np
    >>> hidden = np.array([[[1.0], [3.0], [5.0], [9.0]]])
    >>> np.array(document_means(hidden, np.array([[1, 1, 2, 0]]), 3)).tolist()
    [[[2.0], [5.0], [0.0]]]
    """
    places = ops.reshape(ops.arange(1, documents + 1, dtype="int32"), (1, -1, 1))
    belongs = ops.equal(ops.expand_dims(ops.cast(document_ids, "int32"), 1), places)
    counts = ops.sum(ops.cast(belongs, "float32"), axis=-1, keepdims=True)
    sums = ops.cast(ops.matmul(ops.cast(belongs, hidden.dtype), hidden), "float32")
    return ops.cast(sums / ops.maximum(counts, 1.0), hidden.dtype)
