"""A learned bias for the distance of query and key."""

from typing import Any, ClassVar

import keras
import numpy as np
from keras import ops

from firth.layers.elements.custom_gradient import gather_rows
from firth.layers.elements.layer import Float32Layer
from firth.layers.elements.seeds import normal, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive
from firth.layers.positions.relative_shift import relative_shift


@keras.saving.register_keras_serializable(package="firth")
class RelativeBucketBias(Float32Layer):
    """T5's bias of attention scores: a number for each head and each bucket of distances.

    Raffel et al. 2019, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    section 2.1. Half of the buckets hold one distance each, from 0; the others grow logarithmically, and the
    last one takes all distances from `max_distance` on. In a bidirectional stack half of all buckets is for
    keys after the query; in a causal one keys after the query, never seen, share the bucket of distance 0.

    Args:
        heads: Number of heads of the attention.
        buckets: Number of buckets of distances; an odd one out stays unused, as in the reference code.
        max_distance: Distance in tokens from which on all share a bucket.
        bidirectional: Whether queries also see keys after them.
        initializer_stddev: Standard deviation of the normal that the table starts from.
        truncated: Whether that is redrawn outside two standard deviations.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, or if buckets and distances do not fit.

    Example:

    >>> import numpy as np
    >>> places = np.arange(4)[None]
    >>> tuple(RelativeBucketBias(heads=2)(places, places).shape)
    (1, 2, 4, 4)
    """

    keeps_places: ClassVar[bool] = False

    def __init__(
        self,
        heads: int,
        buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        initializer_stddev: float = 0.02,
        truncated: bool = True,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("RelativeBucketBias", heads=heads, buckets=buckets, max_distance=max_distance)
        self._buckets_by_distance = buckets_by_distance(buckets, max_distance, bidirectional)
        self._initializer = normal(initializer_stddev, seed_generator(seed), truncated)

    def build(self, query_places_shape: Shape | None = None) -> None:
        """Creates `table` [buckets, heads].

        Args:
            query_places_shape: Shape of `query_places`, (batch or 1, length); not read.
        """
        self.table = self.add_weight(
            name="table", shape=(self.buckets, self.heads), initializer=self._initializer, autocast=False
        )

    def call(self, query_places: Tensor, key_places: Tensor | None = None) -> Tensor:
        """Returns float32 [batch or 1, heads, length, keys].

        Args:
            query_places: int32 [batch or 1, length], places of the queries in the row.
            key_places: int32 [batch or 1, keys], places of the keys in the row; None for the queries' own.
                Only the differences of both matter.

        Returns:
            float32 [batch or 1, heads, length, keys], under every dtype policy.
        """
        return self.of_table(self.table, query_places, query_places if key_places is None else key_places)

    def of_table(self, table: Tensor, query_places: Tensor, key_places: Tensor) -> Tensor:
        """Returns the result of the call for a table that is given.

        Args:
            table: Float tensor [buckets, heads], such as `table`.
            query_places: int32 [batch or 1, length], places of the queries in the row.
            key_places: int32 [batch or 1, keys], places of the keys in the row.
        """
        distances = ops.expand_dims(key_places, 1) - ops.expand_dims(query_places, 2)
        clipped = ops.clip(distances, -self.max_distance, self.max_distance) + self.max_distance
        buckets = ops.take(self._buckets_by_distance, clipped)
        return ops.cast(ops.transpose(gather_rows(table, buckets), (0, 3, 1, 2)), "float32")

    def of_block(self, table: Tensor, ahead: Tensor | int, sizes: tuple[int, int]) -> Tensor:
        """Returns the same of neighbouring queries and keys, float32 [1, heads, rows, keys].

        A number is read for each distance, and not for each pair, and shifted into place.

        Args:
            table: Float tensor [buckets, heads], such as `table`.
            ahead: Place of the first query less that of the first key, an int or an int scalar tensor.
            sizes: Numbers of queries and of keys.
        """
        count, columns = sizes[0], sum(sizes)
        # Key less query, from the first key and the query after the last on; see `relative_shift`.
        distances = np.arange(columns, dtype="int32") - count - ahead
        clipped = ops.clip(distances, -self.max_distance, self.max_distance) + self.max_distance
        by_distance = gather_rows(table, ops.take(self._buckets_by_distance, clipped))
        by_distance = ops.reshape(ops.transpose(by_distance), (1, self.heads, 1, columns))
        by_query = ops.broadcast_to(by_distance, (1, self.heads, count, columns))
        return relative_shift(ops.cast(by_query, "float32"))

    def compute_output_shape(
        self, query_places_shape: Shape | None = None, key_places_shape: Shape | None = None
    ) -> Shape:
        """A number for each head and pair.

        Args:
            query_places_shape: Shape of `query_places`, (batch or 1, length); None if it is not known.
            key_places_shape: Shape of `key_places`, (batch or 1, keys); None for that of the queries.
        """
        batch, length = query_places_shape or (None, None)
        return batch, self.heads, length, (key_places_shape or (None, length))[1]


def buckets_by_distance(buckets: int, max_distance: int, bidirectional: bool) -> np.ndarray[Any, Any]:
    """Returns the bucket of every distance from `-max_distance` to `max_distance`, int32.

    Distances are the key's place less the query's.

    Example:

    >>> buckets_by_distance(8, 8, bidirectional=False).tolist()
    [7, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """
    directions = 2 if bidirectional else 1
    one_way = buckets // directions
    exact = one_way // 2
    if not 1 <= exact < max_distance:
        raise ValueError(
            f"RelativeBucketBias: `buckets` must be at least {2 * directions} and less than "
            f"{2 * directions} times `max_distance`. Received: buckets={buckets}, max_distance={max_distance}"
        )
    distances = np.arange(-max_distance, max_distance + 1)
    far = np.abs(distances) if bidirectional else np.maximum(-distances, 0)
    share = np.log(np.maximum(far, exact) / exact) / np.log(max_distance / exact)
    # A distance that begins a bucket lies on its border exactly, where rounding must not push it below.
    logarithmic = exact + np.floor(share * (one_way - exact) + 1e-9).astype(int)
    found = np.where(far < exact, far, np.minimum(logarithmic, one_way - 1))
    return (found + one_way * (bidirectional & (distances > 0))).astype("int32")
