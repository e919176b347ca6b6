"""Positions as angles that queries and keys are turned by."""

import math

import keras
import numpy as np
from keras import ops

from firth.layers.elements.checks import check_positive
from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.parts import check_part


@keras.saving.register_keras_serializable(package="firth")
class RotaryPositions(keras.layers.Layer):
    """Cosines and sines of the angles that belong to positions.

    Su et al. 2021, "RoFormer", section 3.2.2: the i-th of d/2 angles is `position * base ** (-2 i / d)`, and
    scores depend on the distance of query and key only. `rotate` turns heads by them; the elements i and
    i + d/2 of a head form the i-th plane.

    Args:
        head_width: Of a head, an even number.
        base: Of the wavelengths.
        scaling: None, or a dict that stretches the angles to longer contexts as Llama 3.1 does: `factor`,
            `low_frequency_factor`, `high_frequency_factor`, `original_length`. Angles whose wavelength is
            above `original_length / low_frequency_factor` are divided by `factor`, those below
            `original_length / high_frequency_factor` stay, and between them one goes over into the other.

    Call arguments:
        position_ids: int32 [batch, length].

    Returns:
        float32 [batch, 2, length, head_width / 2], under every dtype policy.

    Raises:
        ValueError: if `head_width` is odd.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 4) for value in RotaryPositions(head_width=2)(np.array([[1]]))[0, :, 0, 0]]
    [0.5403, 0.8415]
    """

    def __init__(self, head_width, base=10_000.0, scaling=None, **kwargs):
        super().__init__(**kwargs)
        check_positive("RotaryPositions", head_width=head_width)
        if head_width % 2:
            raise ValueError(f"RotaryPositions: `head_width` must be even. Received: head_width={head_width}")
        self.head_width = head_width
        self.base = base
        self.scaling = dict(scaling) if scaling else None
        frequencies = base ** (-np.arange(0, head_width, 2) / head_width)
        if scaling:
            from firth.recipes.models.blocks import RotaryScalingConfig

            check_part("RotaryPositions", "scaling", scaling, RotaryScalingConfig)
            frequencies = _stretched(frequencies, RotaryScalingConfig.model_construct(**scaling))
        self._frequencies = frequencies

    def call(self, position_ids):
        """Returns float32 [batch, 2, length, head_width / 2]."""
        positions = ops.cast(ops.expand_dims(position_ids, -1), "float32")
        angles = positions * ops.cast(self._frequencies, "float32")
        return ops.stack([ops.cos(angles), ops.sin(angles)], axis=1)

    def compute_output_spec(self, position_ids):
        """The shape of `compute_output_shape`; float32 under every dtype policy."""
        return keras.KerasTensor(self.compute_output_shape(position_ids.shape), dtype="float32")

    def compute_output_shape(self, position_ids_shape):
        """Cosines and sines of each position."""
        batch, length = position_ids_shape
        return batch, 2, length, self.head_width // 2

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "head_width": self.head_width,
            "base": self.base,
            "scaling": self.scaling,
        }


def _stretched(frequencies, scaling):
    """Llama 3.1's frequencies."""
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    turns = scaling.original_length * frequencies / (2.0 * math.pi)
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return frequencies * (kept + (1.0 - kept) / scaling.factor)


def rotate(heads, angles):
    """Returns heads turned by the angles of their positions.

    Args:
        heads: Float tensor [..., batch, heads, length, head width].
        angles: Float32 tensor [batch, 2, length, head width / 2], cosines and sines.

    Returns:
        A tensor of the heads' shape and dtype. Its gradient, written out, turns back by the same angles.

    Example:

    >>> import numpy as np
    >>> quarter = np.array([0.0, 1.0]).reshape(1, 2, 1, 1)
    >>> np.array(rotate(np.array([3.0, 4.0]).reshape(1, 1, 1, 2), quarter)).flatten().tolist()
    [-4.0, 3.0]
    """
    cosines, sines = angles[:, :1], angles[:, 1:]

    @custom_gradient
    def turn(heads):
        def gradient(upstream):
            return _turned(upstream, cosines, -sines)

        return _turned(heads, cosines, sines), gradient

    return turn(heads)


def _turned(heads, cosines, sines):
    first, second = ops.split(ops.cast(heads, "float32"), 2, axis=-1)
    turned = [first * cosines - second * sines, second * cosines + first * sines]
    return ops.cast(ops.concatenate(turned, axis=-1), heads.dtype)
