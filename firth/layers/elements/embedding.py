"""A table of learned vectors, one for each id."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import gather_rows
from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import normal, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive


@keras.saving.register_keras_serializable(package="firth")
class Embedding(Layer):
    """Turns ids into rows of a learned table.

    `y = table[ids]`. Other than `keras.layers.Embedding` its gradient is dense, with the rows of repeated
    ids summed (see `gather_rows`), and rows are cast to the compute dtype after they are taken, not before.

    Args:
        rows: Number of rows; every id is below it.
        width: Width of a row.
        initializer_stddev: Standard deviation of the normal that the table starts from.
        truncated: Whether that is redrawn outside two standard deviations.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1.

    Example:

    >>> import numpy as np
    >>> tuple(Embedding(rows=10, width=4)(np.array([[3, 1, 3]])).shape)
    (1, 3, 4)
    """

    def __init__(
        self,
        rows: int,
        width: int,
        initializer_stddev: float = 0.02,
        truncated: bool = True,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("Embedding", rows=rows, width=width)
        self._initializer = normal(initializer_stddev, seed_generator(seed), truncated)

    def build(self, ids_shape: Shape | None = None) -> None:
        """Creates `table` [rows, width].

        Args:
            ids_shape: Shape of `ids`, of any number of axes; not read.
        """
        self.table = self.add_weight(
            name="table", shape=(self.rows, self.width), initializer=self._initializer, autocast=False
        )

    def call(self, ids: Tensor) -> Tensor:
        """Returns a float tensor of shape `ids.shape + [width]`.

        Args:
            ids: Int tensor of any shape.
        """
        return ops.cast(gather_rows(self.table, ids), self.compute_dtype)

    def compute_output_shape(self, ids_shape: Shape) -> Shape:
        """The shape of the ids, and `width`.

        Args:
            ids_shape: Shape of `ids`, of any number of axes.
        """
        return (*ids_shape, self.width)
