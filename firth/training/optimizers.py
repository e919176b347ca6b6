"""Optimizers that give the same result on any number of replicas."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from firth.recipes.training.optimizers import AnyOptimizer
from firth.training.schedules import build_schedule


class _SummedGradients:
    """What all optimizers here do before they use gradients; to stand before a Keras optimizer as a base.

    1. Rows of an embedding that occur more than once in a batch have their gradients summed first. Keras's
       own square each alone, so that the second moment of a row that occurs three times with gradient 1
       grows by 3 instead of 9.
    2. In a replica of a distribution strategy, gradients are summed over the replicas before they are
       clipped, not after. Replicas therefore pass gradients of a loss that is normalised over all.
    3. Biases and the weights of norms, which are the variables of fewer than two dimensions, are not decayed.

    Of the kinds of clipping, `global_clipnorm` only; gradient accumulation is refused.
    """

    _REFUSED = ("clipnorm", "clipvalue", "amsgrad", "gradient_accumulation_steps")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self._REFUSED:
            if getattr(self, name, None):
                raise ValueError(f"firth's {type(self).__name__} takes no {name}: {getattr(self, name)}")

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Makes the optimizer's variables.

        Args:
            variables: Variables that will be updated.
        """
        self.exclude_from_weight_decay(  # type: ignore[attr-defined]  # Of the Keras optimizer after this base.
            [each for each in variables if not _is_decayed(each)]
        )
        super().build(variables)  # type: ignore[misc]

    def apply(
        self, grads: Sequence[tf.Tensor], trainable_variables: Sequence[keras.Variable] | None = None
    ) -> tf.Tensor:
        """Updates the variables and returns the gradients' global norm before clipping, float32 []."""
        # Converting sums the duplicates.
        grads = [tf.convert_to_tensor(grad) for grad in grads]
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
        norm = tf.linalg.global_norm(grads)
        most = self.global_clipnorm  # type: ignore[attr-defined]  # Of the Keras optimizer after this base.
        if most:
            scale = most / tf.maximum(norm, most)
            grads = [grad * tf.cast(scale, grad.dtype) for grad in grads]
        super().apply(grads, trainable_variables)  # type: ignore[misc]
        return norm

    def _clip_gradients(self, grads: Sequence[tf.Tensor]) -> Sequence[tf.Tensor]:
        return grads  # Done in `apply`.

    def _all_reduce_sum_gradients(
        self, grads_and_vars: Sequence[tuple[tf.Tensor, keras.Variable]]
    ) -> Sequence[tuple[tf.Tensor, keras.Variable]]:
        return list(grads_and_vars)  # Done in `apply`.


def _is_decayed(variable: keras.Variable) -> bool:
    return len(variable.shape) > 1


@keras.saving.register_keras_serializable("firth")
class AdamW(_SummedGradients, keras.optimizers.AdamW):
    """Keras's AdamW, with its gradients summed before they are used (Loshchilov and Hutter 2017).

    See `_SummedGradients` for how it differs from its parent; moments and variable are also updated in one
    pass over memory. Takes the arguments of `keras.optimizers.AdamW`, but for `amsgrad`.

    Raises:
        ValueError: for the arguments that it refuses.
    """

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Makes the moments of each variable.

        Args:
            variables: Variables that will be updated.
        """
        if self.built:
            return
        # From Keras's own decay: `update_step` decays.
        self.exclude_from_weight_decay(variables)
        keras.optimizers.Optimizer.build(self, variables)
        names = ["momentum", "velocity"]
        self._momentums, self._velocities = self.add_optimizer_variables(variables, names)

    def update_step(self, gradient: tf.Tensor, variable: keras.Variable, learning_rate: tf.Tensor) -> None:
        """Updates one variable and its moments, in a single kernel except for the decay.

        Args:
            gradient: Gradient of the variable.
            variable: Variable to update.
            learning_rate: Learning rate of the step, float32 [].
        """
        index = self._get_variable_index(variable)
        if self.weight_decay and _is_decayed(variable):
            variable.assign(variable * tf.cast(1.0 - learning_rate * self.weight_decay, variable.dtype))
        step = tf.cast(self.iterations + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(tf.constant(self.beta_1, variable.dtype), step),
            beta2_power=tf.pow(tf.constant(self.beta_2, variable.dtype), step),
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=tf.constant(self.beta_1, variable.dtype),
            beta2=tf.constant(self.beta_2, variable.dtype),
            epsilon=tf.constant(self.epsilon, variable.dtype),
            grad=gradient,
        )


@keras.saving.register_keras_serializable("firth")
class Lamb(_SummedGradients, keras.optimizers.Lamb):
    """Keras's LAMB (You et al. 2019), with its gradients summed before they are used."""


@keras.saving.register_keras_serializable("firth")
class Adafactor(_SummedGradients, keras.optimizers.Adafactor):
    """Keras's Adafactor (Shazeer and Stern 2018), with its gradients summed before they are used."""


@keras.saving.register_keras_serializable("firth")
class Adagrad(_SummedGradients, keras.optimizers.Adagrad):
    """Keras's Adagrad (Duchi et al. 2011), with its gradients summed before they are used."""


def build_optimizer(config: AnyOptimizer, steps: int, first: int = 0) -> keras.optimizers.Optimizer:
    """Returns the optimizer of a recipe, for a run of `steps`.

    Args:
        config: Optimizer of the recipe.
        steps: Number of steps of the whole run.
        first: Number of the run's first update, where the optimizer has made some before.
    """
    return OPTIMIZERS[config.kind](
        learning_rate=build_schedule(config, steps, first),
        global_clipnorm=config.gradient_clip_norm,
        **config.own_values,
    )


# By `recipe.training.optimizer.kind`.
OPTIMIZERS = {"adamw": AdamW, "lamb": Lamb, "adafactor": Adafactor, "adagrad": Adagrad}
