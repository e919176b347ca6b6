"""AdamW in one pass over memory."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from firth.training.optimizers.summed_gradients import SummedGradients


@keras.saving.register_keras_serializable("firth")
class AdamW(SummedGradients, keras.optimizers.AdamW):
    """Keras's AdamW, with its gradients summed before they are used (Loshchilov and Hutter 2017).

    See `SummedGradients` for how it differs from its parent; moments and variable are also updated in one
    pass over memory. Takes the arguments of `keras.optimizers.AdamW`, but for `amsgrad`.

    Raises:
        ValueError: for the arguments that it refuses.
    """

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        keras.optimizers.Optimizer.build(self, variables)
        names = ["momentum", "velocity"]
        self._momentums, self._velocities = self.add_optimizer_variables(variables, names)

    def _decay(self, variable: tf.Variable, rate: tf.Tensor) -> None:
        # Not by a scatter in place: from then on TensorFlow copies the variable at each read.
        variable.assign(variable * tf.cast(1.0 - rate * self.weight_decay, variable.dtype))

    def _update(self, gradient: tf.Tensor, variable: tf.Variable, rate: tf.Tensor) -> None:
        # A single kernel.
        index = self._index(variable)
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
