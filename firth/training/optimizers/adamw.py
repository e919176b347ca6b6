"""AdamW in one pass over memory, and with moments in bfloat16."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from firth.layers.elements.types import Tensor
from firth.training.optimizers.moments import random_bits, rounded
from firth.training.optimizers.summed_gradients import SummedGradients


class TwoMoments(SummedGradients):
    """What keeps the means of each gradient and of its square; to stand before a Keras optimizer as a base.

    In bfloat16 they are stored rounded at random; an update is computed in float32, of what is not rounded
    yet.

    Args:
        *args: Arguments of the Keras optimizer.
        moments: Dtype that both are kept in, `float32` or `bfloat16`.
        **kwargs: Keywords of `SummedGradients` and of the Keras optimizer.
    """

    _momentums: list[Any]
    _velocities: list[Any]
    beta_1: float
    beta_2: float
    epsilon: float

    def __init__(self, *args: Any, moments: str = "float32", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.moments = moments

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        keras.optimizers.Optimizer.build(self, variables)
        self._momentums = [self._moment(each, "momentum") for each in variables]
        self._velocities = [self._moment(each, "velocity") for each in variables]

    def _moment(self, variable: keras.Variable, name: str) -> keras.Variable:
        if not self._is_rounded:
            return self.add_variable_from_reference(variable, name=name)  # type: ignore[attr-defined]
        path = variable.path.replace("/", "_")
        with tf.distribute.get_strategy().extended.colocate_vars_with(variable.value):
            return self.add_variable(  # type: ignore[attr-defined]  # Of the Keras optimizer.
                variable.shape, dtype=self.moments, name=f"{path}_{name}"
            )

    @property
    def _is_rounded(self) -> bool:
        return self.moments != "float32"

    def _next_moments(self, gradient: tf.Tensor, index: int) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns both means with a gradient, float32, and stores them rounded."""
        places = self._momentums[index].value, self._velocities[index].value
        first, second = (tf.cast(each, tf.float32) for each in places)
        first += (1.0 - self.beta_1) * (gradient - first)
        second += (1.0 - self.beta_2) * (tf.square(gradient) - second)
        bits = random_bits(self.iterations, index, gradient.shape)
        for place, value, own in zip(places, (first, second), bits, strict=True):
            place.assign(rounded(value, own))
        return first, second

    def _corrections(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns what both means are divided by, because they start from zero: float32 [] each."""
        step = tf.cast(self.iterations + 1, tf.float32)
        return 1.0 - tf.pow(self.beta_1, step), 1.0 - tf.pow(self.beta_2, step)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this optimizer."""
        return {**super().get_config(), "moments": self.moments}


@keras.saving.register_keras_serializable("firth")
class AdamW(TwoMoments, keras.optimizers.AdamW):
    """Keras's AdamW, with its gradients summed before they are used (Loshchilov and Hutter 2017).

    See `SummedGradients` for how it differs from its parent, and `TwoMoments` for its moments in bfloat16;
    on TensorFlow, moments and variable are also updated in one pass over memory. Takes the arguments of
    `keras.optimizers.AdamW`, but for `amsgrad`.

    Raises:
        ValueError: for the arguments that it refuses.
    """

    def _decay(self, variable: Any, rate: Tensor) -> None:
        # Not by a scatter in place: from then on TensorFlow copies the variable at each read.
        self.assign(variable, variable * ops.cast(1.0 - rate * self.weight_decay, variable.dtype))

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        if keras.backend.backend() != "tensorflow":
            # XLA makes a single kernel of it.
            super()._update(gradient, variable, rate)
            return
        index = self._index(variable)
        if self._is_rounded:
            first, second = self._next_moments(gradient, index)
            of_first, of_second = self._corrections()
            scaled = rate * tf.sqrt(of_second) / of_first
            variable.assign(variable - scaled * first / (tf.sqrt(second) + self.epsilon))
            return
        # A single kernel.
        step = tf.cast(self.iterations + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(tf.constant(self.beta_1, variable.dtype), step),
            beta2_power=tf.pow(tf.constant(self.beta_2, variable.dtype), step),
            lr=tf.cast(rate, variable.dtype),
            beta1=tf.constant(self.beta_1, variable.dtype),
            beta2=tf.constant(self.beta_2, variable.dtype),
            epsilon=tf.constant(self.epsilon, variable.dtype),
            grad=gradient,
        )


@keras.saving.register_keras_serializable("firth")
class Lamb(TwoMoments, keras.optimizers.Lamb):
    """Keras's LAMB (You et al. 2019), with its gradients summed before they are used.

    See `SummedGradients`, and `TwoMoments` for its moments in bfloat16.
    """

    def _update(self, gradient: tf.Tensor, variable: tf.Variable, rate: tf.Tensor) -> None:
        if not self._is_rounded:
            super()._update(gradient, variable, rate)
            return
        first, second = self._next_moments(gradient, self._index(variable))
        of_first, of_second = self._corrections()
        update = first / of_first / (tf.sqrt(second / of_second) + self.epsilon)
        sizes = tf.norm(variable), tf.norm(update)
        ratio = tf.where((sizes[0] > 0) & (sizes[1] > 0), tf.math.divide_no_nan(*sizes), 1.0)
        variable.assign(variable - ratio * rate * update)
