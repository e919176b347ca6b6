"""Optimizer state in bfloat16: half of the memory, rounded at random so that its mean is right."""

import contextlib
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from firth.layers.elements.noise import keys_of_pair, numbers_at, random_words_at, shift_right
from firth.layers.elements.types import Tensor
from firth.training.optimizers.summed_gradients import SummedGradients

_LOW = np.uint32(2**16 - 1)


def rounded(value: Tensor, bits: Tensor) -> Tensor:
    """Returns bfloat16, up or down at random, in proportion to how near each of both is.

    A second moment changes by a thousandth of itself in a step, less than bfloat16 resolves, and would
    never change if it were rounded to the nearest (Gupta et al. 2015, "Deep Learning with Limited Numerical
    Precision", section 3).

    Args:
        bits: uint32 of its shape, of which the lowest 16 bits are read.

    Example:

    >>> between = np.array([1.001953125, 1.0], "float32")  # A quarter of the way from 1 to the next number.
    >>> for bits in (0, 2**16 - 1):
    ...     made = rounded(between, np.array([bits, bits], "uint32"))
    ...     print(np.array(ops.cast(made, "float32")).tolist())
    [1.0, 1.0]
    [1.0078125, 1.0]
    """
    if not tuple(value.shape):  # Keras views no scalars.
        return ops.reshape(rounded(ops.reshape(value, (1,)), ops.reshape(bits, (1,))), ())
    raised = ops.view(ops.convert_to_tensor(value), dtype="uint32") + ops.bitwise_and(bits, _LOW)
    # The bits that are cut off here are zero, so that nothing is rounded twice.
    return ops.cast(ops.view(ops.bitwise_and(raised, ~_LOW), dtype="float32"), "bfloat16")


def random_bits(step: Tensor, index: int, shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Returns two lots of 16 random bits, uint32 of a shape.

    They are the same on every backend and every replica, and after a resume.
    """
    *before, width = tuple(shape) or (1,)
    keys = keys_of_pair(ops.stack([ops.cast(step, "int32"), index]))
    # By rows: where devices divide a weight, each draws the bits of its part alone.
    rows = numbers_at(ops.arange(int(np.prod(before)), dtype="int32"), width)
    drawn = ops.reshape(random_words_at(keys, rows, width), tuple(shape))
    return drawn, shift_right(drawn, 16)


class KeptValues(SummedGradients):
    """Mixin with state of each weight, in bfloat16 by choice; list it before a Keras optimizer.

    Values are stored rounded at random; an update is computed in float32 before they are rounded.

    Args:
        *args: Arguments of the Keras optimizer.
        moments: Dtype of the stored values, `float32` or `bfloat16`.
        **kwargs: Keywords of `SummedGradients` and of the Keras optimizer.
    """

    def __init__(self, *args: Any, moments: str = "float32", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.moments = moments

    @property
    def _is_rounded(self) -> bool:
        return self.moments != "float32"

    def _kept(self, variable: keras.Variable, name: str, initializer: Any = "zeros") -> keras.Variable:
        """Returns a new variable of the optimizer, of the shape of another and on its devices."""
        if not self._is_rounded:
            return self.add_variable_from_reference(  # type: ignore[attr-defined]  # A part of the Keras optimizer.
                variable, name=name, initializer=initializer
            )
        path = variable.path.replace("/", "_")
        with _on_devices_of(variable):
            return self.add_variable(  # type: ignore[attr-defined]  # As above.
                variable.shape,
                initializer=initializer,
                dtype=self.moments,
                layout=getattr(variable, "_layout", None),
                name=f"{path}_{name}",
            )

    def _store(self, places: Sequence[keras.Variable], values: Sequence[Tensor], index: int) -> None:
        """Stores up to two values of the weight with an index, rounded."""
        bits = random_bits(self.iterations, index, values[0].shape)
        for place, value, own in zip(places, values, bits, strict=False):
            self.assign(place, rounded(value, own))  # type: ignore[attr-defined]  # A part of the Keras optimizer.

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this optimizer."""
        return {**super().get_config(), "moments": self.moments}


def _on_devices_of(variable: keras.Variable) -> contextlib.AbstractContextManager[Any]:
    """Returns a context that makes variables on the devices of another; on JAX their layout does."""
    if keras.backend.backend() != "tensorflow":
        return contextlib.nullcontext()
    return tf.distribute.get_strategy().extended.colocate_vars_with(variable.value)
