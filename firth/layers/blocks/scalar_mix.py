"""A learned average of a model's layers."""

from typing import Any, ClassVar

import keras
from keras import ops

from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive

_NEVER = -1e9


@keras.saving.register_keras_serializable(package="firth")
class ScalarMix(Layer):
    """A weighted sum of the layers of a frozen model, with weights that the task learns.

    `gamma * sum over j of softmax(scores)_j h_j` (Peters et al. 2018, "Deep contextualized word
    representations", equation 1). Whoever wants the weights near each other adds their squares to the loss
    (section 3.2).

    Args:
        layers: Number of layers to mix.
        layer_norm: Whether each token's vector is brought to mean 0 and variance 1 in each layer before the
            layers are mixed.
            The reference code takes mean and variance over all tokens of a batch; here no other token has a
            part in it.
        dropout: Share of the layers that is left out in training, so that the others carry all weight.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if `layers` is below 1 or differs from that of the input, or `dropout` is not from 0 to
            0.99.

    Example:

    >>> import numpy as np
    >>> np.array(ScalarMix(layers=2)(np.array([[[[1.0, 4.0]], [[3.0, 0.0]]]]))).tolist()
    [[[2.0, 2.0]]]
    """

    keeps_places: ClassVar[bool] = False

    def __init__(
        self, layers: int, layer_norm: bool = False, dropout: float = 0.0, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._count = layers
        check_positive("ScalarMix", layers=layers)
        if not 0.0 <= dropout <= 0.99:
            raise ValueError(f"ScalarMix: `dropout` must be from 0 to 0.99. Received: dropout={dropout}")
        self.seed_generator = seed_generator(seed)

    def build(self, hidden_shape: Shape) -> None:
        """Creates `scores` [layers], zeros, and `gamma` [], which is 1.

        Args:
            hidden_shape: Shape of `hidden`, (batch, layers, length, width); None on an axis of unknown
                length.

        Raises:
            ValueError: if the second axis of the input is not `layers` long.
        """
        if hidden_shape[1] != self._count:
            raise ValueError(
                "ScalarMix: the second axis of the input must be `layers`. "
                f"Received: layers={self._count}, input shape {tuple(hidden_shape)}"
            )
        self.scores = self.add_weight(
            name="scores", shape=(self._count,), initializer="zeros", autocast=False
        )
        self.gamma = self.add_weight(name="gamma", shape=(), initializer="ones", autocast=False)

    def call(self, hidden: Tensor, training: bool | None = None) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, layers, length, width].
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        values = ops.cast(hidden, "float32")
        if self.layer_norm:
            mean, variance = ops.moments(values, axes=-1, keepdims=True)
            values = (values - mean) * ops.rsqrt(variance + 1e-12)
        weights = ops.softmax(ops.convert_to_tensor(self.scores) + self._left_out(training))
        mixed = ops.sum(values * ops.reshape(weights, (1, -1, 1, 1)), axis=1)
        return ops.cast(self.gamma * mixed, self.compute_dtype)

    def _left_out(self, training: bool | None) -> Tensor | float:
        if not training or self.dropout == 0.0:
            return 0.0
        draws = keras.random.uniform((self._count,), dtype="float32", seed=self.seed_generator)
        # Where all are left out, all stay: a number that is added to each score does not change a softmax.
        return ops.cast(draws < self.dropout, "float32") * _NEVER

    def compute_output_shape(self, hidden_shape: Shape) -> Shape:
        """The shape of the input without its second axis.

        Args:
            hidden_shape: Shape of `hidden`, (batch, layers, length, width); None on an axis of unknown
                length.
        """
        return (hidden_shape[0], *hidden_shape[2:])
