"""AdamW as BERT uses it, equal on any number of replicas, and its learning rate schedule."""

import keras
import tensorflow as tf

from firth.recipes import training as recipes


@keras.saving.register_keras_serializable("firth")
class WarmupLinearDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate that climbs linearly to its peak and then falls linearly to zero.

    Update t of `steps`, counted from 0, is made with `peak x (t + 1) / warmup_steps` in the warm-up and
    `peak x (steps - t) / (steps - warmup_steps)` after it: no update is made with a rate of zero.

    Example:

    >>> schedule = WarmupLinearDecay(1.0, warmup_steps=2, steps=6)
    >>> [float(schedule(t)) for t in range(7)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """

    def __init__(self, peak: float, warmup_steps: int, steps: int):
        self.peak, self.warmup_steps, self.steps = peak, warmup_steps, steps

    def __call__(self, step):
        """Returns the rate of update `step`, float32 []."""
        step = tf.cast(step, tf.float32)
        climb = (step + 1.0) / max(self.warmup_steps, 1)
        fall = (self.steps - step) / max(self.steps - self.warmup_steps, 1)
        return self.peak * tf.where(step < self.warmup_steps, climb, tf.clip_by_value(fall, 0.0, 1.0))

    def get_config(self):
        """Returns the arguments that rebuild this schedule."""
        return {"peak": self.peak, "warmup_steps": self.warmup_steps, "steps": self.steps}


@keras.saving.register_keras_serializable("firth")
class AdamW(keras.optimizers.AdamW):
    """Keras's AdamW with its gradients made right before they are used (Loshchilov and Hutter 2017).

    Three differences to the parent on the TensorFlow backend:

    1. Rows of an embedding that occur more than once in a batch have their gradients summed first. The
       parent squares each on its own, so that the second moment of a row that occurs three times with
       gradient 1 grows by 3 instead of 9.
    2. In a replica of a distribution strategy, gradients are summed over the replicas before they are
       clipped, not after. Replicas therefore pass gradients of a loss that is normalised over all.
    3. Moments and variable are updated in one pass over memory. Biases and the weights of norms, which are
       the variables of fewer than two dimensions, are not decayed.

    Takes the arguments of `keras.optimizers.AdamW`. Of the kinds of clipping, `global_clipnorm` only;
    `amsgrad` and gradient accumulation are refused.

    Raises:
        ValueError: for the arguments that it refuses.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name in ("clipnorm", "clipvalue", "amsgrad", "gradient_accumulation_steps"):
            if getattr(self, name, None):
                raise ValueError(f"firth's AdamW takes no {name}: {getattr(self, name)}")

    def apply(self, grads, trainable_variables=None):
        """Updates the variables and returns the gradients' global norm before clipping, float32 []."""
        # Converting sums the duplicates.
        grads = [tf.convert_to_tensor(grad) for grad in grads]
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
        norm = tf.linalg.global_norm(grads)
        if self.global_clipnorm:
            scale = self.global_clipnorm / tf.maximum(norm, self.global_clipnorm)
            grads = [grad * tf.cast(scale, grad.dtype) for grad in grads]
        super().apply(grads, trainable_variables)
        return norm

    def update_step(self, gradient, variable, learning_rate):
        """Updates one variable and its moments, in a single kernel but for the decay."""
        index = self._get_variable_index(variable)
        if self.weight_decay and len(variable.shape) > 1:
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

    def _apply_weight_decay(self, variables):
        pass  # Done in `update_step`.

    def _clip_gradients(self, grads):
        return grads  # Done in `apply`.

    def _all_reduce_sum_gradients(self, grads_and_vars):
        return list(grads_and_vars)  # Done in `apply`.


def build_schedule(config: recipes.AdamW, steps: int) -> WarmupLinearDecay:
    """Returns the learning rate of each update of a recipe's run of `steps`."""
    return WarmupLinearDecay(config.learning_rate, config.warmup_steps, steps)


def build_optimizer(config: recipes.AdamW, steps: int) -> AdamW:
    """Returns the optimizer of a recipe, for a run of `steps`."""
    return AdamW(
        learning_rate=build_schedule(config, steps),
        weight_decay=config.weight_decay,
        beta_1=config.beta_1,
        beta_2=config.beta_2,
        epsilon=config.epsilon,
        global_clipnorm=config.gradient_clip_norm,
    )
