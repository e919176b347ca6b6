"""The norms that a recipe may name."""

from typing import Any

import keras
from keras import ops

from firth.layers.elements.norm_gradients import layer_norm, rms_norm
from firth.layers.elements.types import Shape, Tensor

_KINDS = ("layer_norm", "rms_norm")


def build_norm(
    kind: str = "layer_norm",
    epsilon: float = 1e-12,
    biases: bool = True,
    dtype: Any = None,
    name: str | None = None,
) -> keras.layers.Layer:
    """Returns a layer that normalises the last axis, in float32 under every dtype policy.

    Args:
        kind: `layer_norm` (Ba et al. 2016, "Layer Normalization"), with the weights `gamma` and, with biases,
            `beta`; or `rms_norm` (Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"), with the
            weight `scale`.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 4) for value in build_norm("rms_norm")(np.array([[3.0, 4.0]]))[0]]
    [0.8485, 1.1314]
    """
    if kind not in _KINDS:
        raise ValueError(f"`kind` of a norm must be one of {list(_KINDS)}. Received: kind={kind!r}")
    if kind == "rms_norm":
        return RMSNorm(epsilon=epsilon, dtype=dtype, name=name)
    return LayerNorm(epsilon=epsilon, center=biases, dtype=dtype, name=name)


@keras.saving.register_keras_serializable(package="firth")
class LayerNorm(keras.layers.LayerNormalization):
    """Keras's `LayerNormalization` over the last axis, whose gradient takes fewer passes on TensorFlow.

    XLA and torch, which Keras's other backends run on, fuse what TensorFlow does operation by operation.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 3) for value in LayerNorm()(np.array([[1.0, 3.0]]))[0]]
    [-1.0, 1.0]
    """

    def call(self, inputs: Tensor) -> Tensor:
        """Returns a tensor of the inputs' shape, in the layer's compute dtype.

        Args:
            inputs: Float tensor [..., width].
        """
        if not _suits(inputs, self.axis) or self.gamma is None:
            return super().call(inputs)
        beta = None if self.beta is None else ops.cast(self.beta, "float32")
        gamma = ops.cast(self.gamma, "float32")
        outputs = layer_norm(ops.cast(inputs, "float32"), gamma, beta, self.epsilon)
        return ops.cast(outputs, self.compute_dtype)


@keras.saving.register_keras_serializable(package="firth")
class RMSNorm(keras.layers.RMSNormalization):
    """Keras's `RMSNormalization` over the last axis; see `LayerNorm` for what differs.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 4) for value in RMSNorm(epsilon=1e-12)(np.array([[3.0, 4.0]]))[0]]
    [0.8485, 1.1314]
    """

    axis: int | list[int]

    def build(self, input_shape: Shape) -> None:
        """Creates `scale`, which stays float32 under mixed precision."""
        axes = keras.tree.flatten(self.axis)
        shape = tuple(input_shape[axis] for axis in axes)
        self.scale = self.add_weight(name="scale", shape=shape, initializer="ones", autocast=False)
        self.axis, self.built = axes, True

    def compute_mask(self, inputs: Tensor, previous_mask: Any) -> Any:
        """The mask of the inputs.

        Args:
            inputs: Float tensor [..., width]; not read.
        """
        return previous_mask

    def call(self, inputs: Tensor) -> Tensor:
        """Returns a tensor of the inputs' shape, in the layer's compute dtype.

        Args:
            inputs: Float tensor [..., width].
        """
        if not _suits(inputs, self.axis):
            return ops.cast(super().call(inputs), self.compute_dtype)
        outputs = rms_norm(ops.cast(inputs, "float32"), ops.cast(self.scale, "float32"), self.epsilon)
        return ops.cast(outputs, self.compute_dtype)


def _suits(inputs: Tensor, axes: Any) -> bool:
    """Returns whether a gradient of ours is there: on TensorFlow, over the last axis, not in float64."""
    if keras.backend.backend() != "tensorflow" or keras.backend.standardize_dtype(inputs.dtype) == "float64":
        return False
    return list(axes) in ([-1], [len(inputs.shape) - 1])
