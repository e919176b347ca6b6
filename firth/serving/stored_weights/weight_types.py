"""The types that an export stores weights in: packing of a weight, and unpacking in the graph."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from firth.models.bundle import weights_by_path

# The tensors of one weight, by the suffix that their names add to its path.
Parts: TypeAlias = dict[str, tf.Tensor]
_VALUES, _SCALES = "", "/scales"
_MOST = 127
# Tables whose rows are multiplied with states, as a projection's kernel is, next to being looked up.
_TOKEN_TABLES = ("token_embedding/table", "heads/table")
# Kernels that are [..., outputs, inputs]; the others are [..., inputs, outputs].
_OUTPUTS_FIRST = ("inner_kernel", "gate_kernel", "input_kernel", "recurrent_kernel", "projection_kernel")


class PartSpec(NamedTuple):
    """Dtype and shape of the tensor of a weight, or of a part of it.

    Attributes:
        dtype: Name of the dtype.
        shape: Its axes' sizes.
    """

    dtype: str
    shape: tuple[int, ...]


class WeightType:
    """Base of the types of stored weights."""

    def specs(self, shape: Sequence[int], axis: int) -> dict[str, PartSpec]:
        """Returns the dtypes and shapes of the tensors that are stored."""
        raise NotImplementedError

    def pack(self, values: Any, axis: int) -> Parts:
        """Returns the tensors that are stored.

        Args:
            values: Values of the weight, float32.
        """
        raise NotImplementedError

    def unpack(self, parts: Mapping[str, Any]) -> tf.Tensor:
        """Returns the values of a weight, float32."""
        raise NotImplementedError


class Bfloat16(WeightType):
    """Each number is rounded to the nearest one of bfloat16."""

    def specs(self, shape: Sequence[int], axis: int) -> dict[str, PartSpec]:  # noqa: D102
        return {_VALUES: PartSpec("bfloat16", tuple(shape))}

    def pack(self, values: Any, axis: int) -> Parts:  # noqa: D102
        return {_VALUES: tf.cast(values, tf.bfloat16)}

    def unpack(self, parts: Mapping[str, Any]) -> tf.Tensor:  # noqa: D102
        return tf.cast(parts[_VALUES], tf.float32)


class Int8(WeightType):
    """Each number is rounded to a multiple of a scale: of the inputs to one output, a 127th of the greatest.

    No number is lost at the ends, zero stays zero, and the error is at most half a scale.
    """

    def specs(self, shape: Sequence[int], axis: int) -> dict[str, PartSpec]:  # noqa: D102
        scales = [1 if each == _inputs_axis(axis, len(shape)) else size for each, size in enumerate(shape)]
        return {_VALUES: PartSpec("int8", tuple(shape)), _SCALES: PartSpec("float32", tuple(scales))}

    def pack(self, values: Any, axis: int) -> Parts:
        """Returns the tensors that are stored.

        Args:
            values: Values of the weight, float32.
        """
        values = np.asarray(values, np.float32)
        greatest = np.abs(values).max(axis=_inputs_axis(axis, values.ndim), keepdims=True)
        if not np.isfinite(greatest).all():
            raise ValueError("a weight is not finite, so that int8 has no scale for it")
        scales = (greatest / _MOST).astype(np.float32)
        steps = np.rint(np.divide(values, scales, out=np.zeros_like(values), where=scales > 0))
        # The scale of the least numbers is rounded, too.
        return {_VALUES: tf.constant(np.clip(steps, -_MOST, _MOST), tf.int8), _SCALES: tf.constant(scales)}

    def unpack(self, parts: Mapping[str, Any]) -> tf.Tensor:  # noqa: D102
        return tf.cast(parts[_VALUES], tf.float32) * parts[_SCALES]


# By `recipe.export.weights`; what stores every weight as it is has nothing to do.
WEIGHT_TYPES: dict[str, WeightType | None] = {"float32": None, "bfloat16": Bfloat16(), "int8": Int8()}


def _inputs_axis(outputs_axis: int, rank: int) -> int:
    """Returns the axis next to that of the outputs, which a scale is shared along."""
    return rank - 2 if outputs_axis == rank - 1 else rank - 1


class StoredWeight(NamedTuple):
    """The type of one stored weight.

    Attributes:
        type: Type of it.
        axis: Axis of its outputs.
    """

    type: WeightType
    axis: int


def stored_weights_of(model: Any, dtype: str) -> dict[int, StoredWeight]:
    """Returns how the weights of a model are stored that are not stored as they are, by their identity.

    These are the kernels, and the tables of tokens and of the vocabulary, which hold nearly all numbers of a
    model. Vectors, that is norms and biases, stay as they are: they are few, and each of their numbers goes
    into a whole column of states. So do positions, segments and what a method adds, which are added to
    states or attend to all tokens, so that their error does not average out over a sum of many inputs.
    """
    chosen = WEIGHT_TYPES[dtype]
    if chosen is None:
        return {}
    axes = {id(each): _outputs_axis(path, len(each.shape)) for path, each in weights_by_path(model).items()}
    return {place: StoredWeight(chosen, axis) for place, axis in axes.items() if axis is not None}


def _outputs_axis(path: str, rank: int) -> int | None:
    """Returns the axis of a weight's outputs; None for one that is stored as it is."""
    name = path.rsplit("/", 1)[-1]
    if path.endswith(_TOKEN_TABLES):
        return 0
    if rank < 2 or "kernel" not in name:
        return None
    return rank - 2 if name in _OUTPUTS_FIRST else rank - 1
