"""The norms that a recipe may name."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
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

    XLA and torch, which Keras's other backends run on, fuse operations that TensorFlow runs one by one.

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
    """Keras's `RMSNormalization` over the last axis; see `LayerNorm` for the difference.

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
    """Returns true if a norm has a gradient of ours: on TensorFlow, over the last axis, not in float64."""
    if keras.backend.backend() != "tensorflow" or keras.backend.standardize_dtype(inputs.dtype) == "float64":
        return False
    return list(axes) in ([-1], [len(inputs.shape) - 1])


def layer_norm(inputs: Tensor, gamma: Tensor, beta: Tensor | None, epsilon: float) -> Tensor:
    """Returns `gamma * (x - mean) / sqrt(variance + epsilon) + beta` (Ba et al. 2016, section 3.1).

    Args:
        inputs: float32 [..., width].
        gamma: float32 [width].
        beta: float32 [width], or None.

    Returns:
        float32 [..., width].

    Example:

    >>> import numpy as np
    >>> [round(float(y), 3) for y in layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), 1e-12)[0]]
    [-1.0, 1.0]
    """

    def run(inputs: Tensor, gamma: Tensor, *beta: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        centred = inputs - ops.mean(inputs, axis=-1, keepdims=True)
        inverse = ops.rsqrt(ops.mean(ops.square(centred), axis=-1, keepdims=True) + epsilon)
        normal = centred * inverse
        outputs = normal * gamma
        for part in beta:
            outputs = outputs + part

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            for_gamma, by_normal, scaled = _shared(upstream, normal, gamma)
            mean = ops.mean(scaled, axis=-1, keepdims=True)
            for_inputs = (scaled - mean - normal * by_normal) * inverse
            return for_inputs, for_gamma, *(_sum_rows(upstream) for _ in beta)

        return outputs, gradient

    return custom_gradient(run)(inputs, gamma, *([] if beta is None else [beta]))


def rms_norm(inputs: Tensor, scale: Tensor, epsilon: float) -> Tensor:
    """Returns `scale * x / sqrt(mean(x^2) + epsilon)` (Zhang and Sennrich 2019, section 4).

    Args:
        inputs: float32 [..., width].
        scale: float32 [width].

    Returns:
        float32 [..., width].

    Example:

    >>> import numpy as np
    >>> [round(float(y), 3) for y in rms_norm(np.array([[3.0, 4.0]]), np.ones(2), 1e-12)[0]]
    [0.849, 1.131]
    """

    def run(inputs: Tensor, scale: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        inverse = ops.rsqrt(ops.mean(ops.square(inputs), axis=-1, keepdims=True) + epsilon)
        normal = inputs * inverse

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            for_scale, by_normal, scaled = _shared(upstream, normal, scale)
            return (scaled - normal * by_normal) * inverse, for_scale

        return normal * scale, gradient

    return custom_gradient(run)(inputs, scale)


def _shared(upstream: Tensor, normal: Tensor, gain: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the gain's gradient, each row's mean of `upstream * gain * normal`, and `upstream * gain`."""
    product = upstream * normal
    width = gain.shape[0]
    by_normal = ops.matmul(product, ops.reshape(gain / width, (width, 1)))
    return _sum_rows(product), by_normal, upstream * gain


def _sum_rows(values: Tensor) -> Tensor:
    """Returns the sum over all axes but the last; as a product it is faster than as a sum on a CPU."""
    # A GPU may round the factors to TF32, by TensorFlow's and JAX's defaults, as in all other products
    # of gradients. A float32 sum takes a CPU up to 1.7 times as long (4,096 rows of 768).
    flat = ops.reshape(values, (-1, values.shape[-1]))
    return ops.matmul(ops.ones((1, ops.shape(flat)[0]), dtype=flat.dtype), flat)[0]
