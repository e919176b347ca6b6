"""The head that says whether the second segment follows the first."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.layer import Float32Layer
from firth.layers.elements.seeds import seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor


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
        """Two logits in the place of the width.

        Args:
            pooled_shape: Shape of `pooled`, (batch, documents, width); None on an axis of unknown length.
        """
        return (*pooled_shape[:-1], 2)
