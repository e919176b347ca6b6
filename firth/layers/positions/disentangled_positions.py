"""DeBERTa's embeddings of distances, which all layers share."""

from typing import Any, ClassVar

import keras
import numpy as np
from keras import ops

from firth.layers.elements.custom_gradient import gather_rows
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.layer import Layer
from firth.layers.elements.norms import build_norm
from firth.layers.elements.seeds import seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive


@keras.saving.register_keras_serializable(package="firth")
class DisentangledPositions(Layer):
    """A learned vector for each distance between two tokens of a row, or for each bucket of distances.

    He et al. 2020, "DeBERTa", section 3.1, with the log-spaced buckets and the layer norm over the table that
    the reference code of version 2 has; He et al. 2021, "DeBERTaV3", keeps both.

    Args:
        width: Width of a vector, that of the hidden states.
        max_distance: Distance from which on all distances are alike.
        buckets: Number of buckets of distances in each direction; the nearer half of them hold one distance
            each, the others grow logarithmically. None for a vector for each distance.
        epsilon: Epsilon of the layer norm.
        dropout: Share of the table that is dropped in training, once for all layers.
        initializer_stddev: Standard deviation of the truncated normal that the table starts from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, or if buckets and distances do not fit.

    Example:

    >>> import numpy as np
    >>> tuple(DisentangledPositions(width=4)(np.array([[0, 1, 2]])).shape)
    (7, 4)
    """

    keeps_places: ClassVar[bool] = False

    def __init__(
        self,
        width: int,
        max_distance: int = 512,
        buckets: int | None = 256,
        epsilon: float = 1e-12,
        dropout: float = 0.0,
        initializer_stddev: float = 0.02,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("DisentangledPositions", width=width, max_distance=max_distance)
        if buckets is not None:
            check_positive("DisentangledPositions", buckets=buckets)
        generator = seed_generator(seed)
        self._rows = rows_by_distance(max_distance, buckets)
        self._initializer = truncated_normal(initializer_stddev, generator)
        self.norm = build_norm(epsilon=epsilon, dtype=self.dtype_policy, name="norm")
        self.dropout = Dropout(
            dropout, batch_axis=None, seed=generator, dtype=self.dtype_policy, name="dropout"
        )

    def build(self, position_ids_shape: Shape | None = None) -> None:
        """Creates `table` [2 buckets, width], or [2 max_distance, width] without buckets, and `norm`.

        Args:
            position_ids_shape: Shape of `position_ids`, (batch, length); not read.
        """
        shape = (2 * (self.buckets or self.max_distance), self.width)
        self.table = self.add_weight(name="table", shape=shape, initializer=self._initializer)
        self.norm.build(shape)
        self.dropout.build(shape)

    def call(self, position_ids: Tensor, training: bool | None = None) -> Tensor:
        """Returns a float tensor [2 length + 1, width].

        Args:
            position_ids: int32 [batch, length], of which only the length is read: within a document, places
                in the row and positions have the same differences.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor [2 length + 1, width] of the compute dtype. Row r is the distance `length - r`, the
            query's place less the key's.
        """
        length = ops.shape(position_ids)[1]
        distances = length - ops.arange(2 * length + 1, dtype="int32")
        places = ops.clip(distances, -self.max_distance, self.max_distance) + self.max_distance
        table = self.dropout(self.norm(self.table), training=training)
        return gather_rows(table, ops.take(self._rows, places))

    def compute_output_shape(self, position_ids_shape: Shape) -> Shape:
        """A row for each distance.

        Args:
            position_ids_shape: Shape of `position_ids`, (batch, length); None on an axis of unknown length.
        """
        length = position_ids_shape[1]
        return (None if length is None else 2 * length + 1, self.width)


def rows_by_distance(max_distance: int, buckets: int | None) -> np.ndarray[Any, Any]:
    """Returns the table's row of every distance from `-max_distance` to `max_distance`, int32.

    Distance 0 has the row in the middle, `buckets` or `max_distance`; larger distances follow. The first row
    holds all distances of `-max_distance` and below, the last one shares those above with its own.

    Raises:
        ValueError: if there are too few distances for logarithmic buckets.

    Example:

    >>> rows_by_distance(8, 4).tolist()
    [0, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7]
    """
    distances = np.arange(-max_distance, max_distance + 1)
    span = buckets or max_distance
    if buckets is not None:
        distances = _buckets(distances, max_distance, buckets)
    return np.clip(distances + span, 0, 2 * span - 1).astype("int32")


def _buckets(distances: np.ndarray[Any, Any], max_distance: int, buckets: int) -> np.ndarray[Any, Any]:
    """Returns signed buckets: half of them exact, `buckets - 1` reached at `max_distance - 1`."""
    exact = buckets // 2
    if not 1 <= exact < max_distance - 1:
        raise ValueError(
            "DisentangledPositions: `buckets` must be at least 2 and less than twice `max_distance` - 1. "
            f"Received: buckets={buckets}, max_distance={max_distance}"
        )
    far = np.maximum(np.abs(distances), exact)
    share = np.log(far / exact) / np.log((max_distance - 1) / exact)
    # A distance that ends a bucket lies on its border exactly, where rounding must not push it above.
    logarithmic = exact + np.ceil(share * (exact - 1) - 1e-9)
    return np.where(np.abs(distances) <= exact, distances, np.sign(distances) * logarithmic)
