"""Positions as angles that queries and keys are turned by."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import keras
import numpy as np
from keras import ops

from firth.layers.elements.configs import rotary_scaling_of
from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.layer import Float32Layer
from firth.layers.elements.types import Shape, Tensor, check_positive

if TYPE_CHECKING:
    from firth.recipes.models.positions import RotaryScalingConfig


@keras.saving.register_keras_serializable(package="firth")
class RotaryPositions(Float32Layer):
    """Cosines and sines of the angles that belong to positions.

    Su et al. 2021, "RoFormer", section 3.2.2: the i-th of d/2 angles is `position * base ** (-2 i / d)`, and
    scores depend on the distance of query and key only. `rotate` turns heads by them; the elements i and
    i + d/2 of a head form the i-th plane.

    Args:
        head_width: Width of a head, an even number.
        base: Base of the wavelengths.
        scaling: Stretching of the angles to longer contexts, as Llama 3.1 has it: a `RotaryScalingConfig` or
            a mapping of its values. Angles whose wavelength is above `original_length / low_frequency_factor`
            are divided by `factor`, those below `original_length / high_frequency_factor` stay, and between
            them one goes over into the other. None for angles as they are.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if `head_width` is odd, or a value of `scaling` does not fit.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 4) for value in RotaryPositions(head_width=2)(np.array([[1]]))[0, :, 0, 0]]
    [0.5403, 0.8415]
    """

    keeps_places: ClassVar[bool] = False

    def __init__(
        self,
        head_width: int,
        base: float = 10_000.0,
        scaling: "RotaryScalingConfig | Mapping[str, Any] | None" = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("RotaryPositions", head_width=head_width)
        if head_width % 2:
            raise ValueError(f"RotaryPositions: `head_width` must be even. Received: head_width={head_width}")
        self.scaling = rotary_scaling_of(scaling)
        frequencies = base ** (-np.arange(0, head_width, 2) / head_width)
        self._frequencies = frequencies if self.scaling is None else _stretched(frequencies, self.scaling)

    def build(self, position_ids_shape: Shape | None = None) -> None:
        """Creates nothing: there are no weights.

        Args:
            position_ids_shape: Shape of `position_ids`, (batch, length); not read.
        """
        self.built = True

    def call(self, position_ids: Tensor) -> Tensor:
        """Returns float32 [batch, 2, length, head_width / 2].

        Args:
            position_ids: int32 [batch, length].

        Returns:
            float32 [batch, 2, length, head_width / 2], under every dtype policy.
        """
        positions = ops.cast(ops.expand_dims(position_ids, -1), "float32")
        angles = positions * ops.cast(self._frequencies, "float32")
        return ops.stack([ops.cos(angles), ops.sin(angles)], axis=1)

    def compute_output_shape(self, position_ids_shape: Shape) -> Shape:
        """Cosines and sines of each position.

        Args:
            position_ids_shape: Shape of `position_ids`, (batch, length); None on an axis of unknown length.
        """
        batch, length = position_ids_shape
        return batch, 2, length, self.head_width // 2


def _stretched(frequencies: np.ndarray[Any, Any], scaling: "RotaryScalingConfig") -> np.ndarray[Any, Any]:
    """Llama 3.1's frequencies."""
    low, high = scaling.low_frequency_factor, scaling.high_frequency_factor
    turns = scaling.original_length * frequencies / (2.0 * math.pi)
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return frequencies * (kept + (1.0 - kept) / scaling.factor)


def rotate(heads: Tensor, angles: Tensor) -> Tensor:
    """Returns heads turned by the angles of their positions.

    Args:
        heads: Float tensor [..., batch, heads, length, head width].
        angles: Float32 tensor [batch, 2, length, head width / 2], cosines and sines.

    Example:

    >>> import numpy as np
    >>> quarter = np.array([0.0, 1.0]).reshape(1, 2, 1, 1)
    >>> np.array(rotate(np.array([3.0, 4.0]).reshape(1, 1, 1, 2), quarter)).flatten().tolist()
    [-4.0, 3.0]
    """

    @custom_gradient
    def turn(heads: Tensor, angles: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        cosines, sines = angles[:, :1], angles[:, 1:]

        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            return _turned(upstream, cosines, -sines), ops.zeros_like(angles)

        return _turned(heads, cosines, sines), gradient

    return turn(heads, ops.cast(angles, "float32"))


def _turned(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = ops.split(ops.cast(heads, "float32"), 2, axis=-1)
    turned = [first * cosines - second * sines, second * cosines + first * sines]
    return ops.cast(ops.concatenate(turned, axis=-1), heads.dtype)
