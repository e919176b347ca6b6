"""Embeddings of segments and positions, added to those of tokens before the first block."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from firth.layers.elements.configs import norm_of, positions_of
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.embedding import Embedding
from firth.layers.elements.layer import Layer
from firth.layers.elements.norms import build_norm
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor, check_positions
from firth.layers.positions.sinusoidal_positions import SinusoidalPositions

if TYPE_CHECKING:
    from firth.recipes.models.blocks import NormConfig
    from firth.recipes.models.positions import Positions


@keras.saving.register_keras_serializable(package="firth")
class InputEmbedding(Layer):
    """Adds embeddings of a token's segment and position to that of the token, and norms the sum.

    `dropout(norm(token + segment[s] + position[p]))` (Devlin et al. 2018, section 3 and figure 2), each part
    where it is asked for. Positions are given, not counted, because they start again with each document of a
    packed row.

    Args:
        width: Width of the embeddings.
        positions: Positions of a stack, as a config or a mapping of its values. `learned` ones (`length`
            rows, and as many `unused` ones before them) and `sinusoidal` ones are added here; other kinds
            belong to attention. None for a stack without positions.
        segments: Number of rows of the segment table; 0 for none.
        norm: Norm of the sum, a `NormConfig` or a mapping of its values, whose `placement` is not read. None
            for none.
        biases: Whether a layer norm has an offset.
        dropout: Share of the result that is dropped in training.
        initializer_stddev: Standard deviation of the truncated normal that the tables start from.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, for a key or a kind that does not fit, with the nearest valid
            name, and for positions beyond the table.

    Example:

    >>> import numpy as np
    >>> layer = InputEmbedding(width=4, positions={"kind": "learned", "length": 8}, segments=2, norm={})
    >>> ids = np.array([[1, 1, 0]])
    >>> tuple(layer(np.ones((1, 3, 4)), ids, ids).shape)
    (1, 3, 4)
    """

    def __init__(
        self,
        width: int,
        positions: "Positions | Mapping[str, Any] | None" = None,
        segments: int = 0,
        norm: "NormConfig | Mapping[str, Any] | None" = None,
        biases: bool = True,
        dropout: float = 0.0,
        initializer_stddev: float = 0.02,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        # The tables' rows are summed in the precision of the variables, also under mixed precision.
        super().__init__(autocast=False, **kwargs)
        places, kind = positions_of(positions), norm_of(norm)
        # The config holds the recipe types, not the layers that are made of them.
        self._arguments.update(positions=places, norm=kind)
        shared = seed_generator(seed)
        table = {"initializer_stddev": initializer_stddev, "seed": shared, "dtype": self.variable_dtype}
        self.longest = None if places is None else places.longest
        self._unused = 0 if places is None else places.rows - (places.longest or 0)
        make = None if places is None else POSITIONS.get(places.kind)
        self.position = None if make is None else make(places, width, table)
        self.segment = Embedding(segments, width, name="segment", **table) if segments else None
        self.norm = None
        if kind is not None:
            self.norm = build_norm(
                kind.kind, kind.epsilon, biases=biases, dtype=self.dtype_policy, name="norm"
            )
        self.dropout = Dropout(dropout, seed=shared, dtype=self.dtype_policy, name="dropout")

    def build(self, hidden_shape: Shape) -> None:
        """Creates the tables and the norm, each where there is one.

        They are `position/table` [unused + length, width], `segment/table` [segments, width] and `norm`.

        Args:
            hidden_shape: Shape of `tokens`, (batch, length, width); None on an axis of unknown length.
        """
        for part in (self.position, self.segment):
            if part is not None and not part.built:
                part.build(hidden_shape[:-1])
        if self.norm is not None:
            self.norm.build(hidden_shape)
        self.dropout.build(hidden_shape)

    def call(
        self,
        tokens: Tensor,
        position_ids: Tensor | None = None,
        segment_ids: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width] of the compute dtype.

        Args:
            tokens: Float tensor [batch, length, width], rows of the token table.
            position_ids: int32 [batch, length], each below `length` where positions are learned; None for the
                places in the row.
            segment_ids: int32 [batch, length]; read with `segments` only. None for the first segment.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        total, rows = tokens, ops.shape(tokens)[:2]
        if self.segment is not None:
            segment_ids = ops.zeros(rows, "int32") if segment_ids is None else segment_ids
            total = ops.add(total, self.segment(segment_ids))
        if self.position is not None:
            if position_ids is None:
                places = ops.arange(rows[1], dtype="int32")
                position_ids = ops.broadcast_to(ops.expand_dims(places, 0), rows)
            if self.longest is not None:
                check_positions("InputEmbedding", position_ids, **{"positions.length": self.longest})
            total = ops.add(total, self.position(ops.add(position_ids, self._unused)))
        if self.norm is not None:
            total = self.norm(total)
        return self.dropout(ops.cast(total, self.compute_dtype), training=training)


def _learned(places: Any, width: int, table: dict[str, Any]) -> Embedding:
    return Embedding(places.rows, width, name="position", **table)


def _sinusoidal(places: Any, width: int, table: dict[str, Any]) -> SinusoidalPositions:
    return SinusoidalPositions(width, dtype=table["dtype"], name="position")


# By `positions.kind`; the other kinds belong to attention.
POSITIONS: dict[str, Callable[[Any, int, dict[str, Any]], keras.layers.Layer]] = {
    "learned": _learned,
    "sinusoidal": _sinusoidal,
}
