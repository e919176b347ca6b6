"""AdamW in one pass over memory, and with moments in bfloat16."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from firth.layers.elements.types import Tensor
from firth.training.optimizers.moments import KeptValues


class TwoMoments(KeptValues):
    """Mixin with Adam's moments, the means of gradients and their squares; list it before a Keras optimizer.

    See `KeptValues` for its arguments and bfloat16.
    """

    _momentums: list[Any]
    _velocities: list[Any]
    beta_1: float
    beta_2: float
    epsilon: float

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        keras.optimizers.Optimizer.build(self, variables)
        self._momentums = [self._kept(each, "momentum") for each in variables]
        self._velocities = [self._kept(each, "velocity") for each in variables]

    def _next_moments(self, gradient: Tensor, index: int) -> tuple[Tensor, Tensor]:
        """Returns both means with a gradient, float32, and stores them rounded."""
        places = self._momentums[index], self._velocities[index]
        first, second = (ops.cast(each, "float32") for each in places)
        first = first + (1.0 - self.beta_1) * (gradient - first)
        second = second + (1.0 - self.beta_2) * (ops.square(gradient) - second)
        self._store(places, (first, second), index)
        return first, second

    def _corrections(self) -> tuple[Tensor, Tensor]:
        """Returns the divisors that correct both means for their start at zero, float32 [] each."""
        step = ops.cast(self.iterations + 1, "float32")
        return 1.0 - ops.power(self.beta_1, step), 1.0 - ops.power(self.beta_2, step)


@keras.saving.register_keras_serializable("firth")
class AdamW(TwoMoments, keras.optimizers.AdamW):
    """Keras's AdamW, with its gradients summed before they are used (Loshchilov and Hutter 2017).

    See `SummedGradients` for how it differs from its parent, and `KeptValues` for its moments in bfloat16;
    on TensorFlow, moments and variable are also updated in one pass over memory. Takes the arguments of
    `keras.optimizers.AdamW`, but for `amsgrad`.

    Raises:
        ValueError: for the arguments that it refuses.
    """

    def _decay(self, variable: Any, rate: Tensor) -> None:
        # Not by a scatter in place: from then on TensorFlow copies the variable at each read.
        self.assign(variable, variable * ops.cast(1.0 - rate * self.weight_decay, variable.dtype))

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        index = self._index(variable)
        if self._is_rounded:
            first, second = self._next_moments(gradient, index)
            of_first, of_second = self._corrections()
            scaled = rate * ops.sqrt(of_second) / of_first
            self.assign(variable, variable - scaled * first / (ops.sqrt(second) + self.epsilon))
            return
        if keras.backend.backend() != "tensorflow":
            # XLA makes a single kernel of it.
            super()._update(gradient, variable, rate)
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

    See `SummedGradients`, and `KeptValues` for its moments in bfloat16.
    """

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        if not self._is_rounded:
            super()._update(gradient, variable, rate)
            return
        first, second = self._next_moments(gradient, self._index(variable))
        of_first, of_second = self._corrections()
        update = first / of_first / (ops.sqrt(second / of_second) + self.epsilon)
        weight, change = (ops.sqrt(ops.sum(ops.square(each))) for each in (variable, update))
        ratio = ops.where((weight > 0) & (change > 0), ops.divide_no_nan(weight, change), 1.0)
        self.assign(variable, variable - ratio * rate * update)
