"""Base of all optimizers: sums, clips and scales gradients before they are used."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from firth.layers.elements.types import Tensor
from firth.tuning.rate_multipliers import RateMultipliers


class SummedGradients:
    """Mixin that prepares gradients before they are used; list it before a Keras optimizer.

    1. Rows of an embedding that occur more than once in a batch have their gradients summed first. Keras's
       own square each alone, so that the second moment of a row that occurs three times with gradient 1
       grows by 3 instead of 9.
    2. In a replica of a distribution strategy, gradients are summed over the replicas before they are
       clipped, not after. Replicas therefore pass gradients of a loss that is normalised over all.
    3. Biases and the scales of norms are not decayed, whatever their shape; see `is_decayed`.

    4. A variable with a multiplier is updated, and decayed, at the multiplied learning rate. As long as a
       function of the step gives 0, it stays as it is, bit for bit: its gradient does not count in the global
       norm then, but in its moments, which are known when its training starts.

    `global_clipnorm` is the only kind of clipping; gradient accumulation is refused.

    Args:
        *args: Arguments of the Keras optimizer.
        multipliers: Multipliers of the updates of some variables; see `RateMultipliers`.
        first: Number of the run's first update, where the optimizer has made some before.
        **kwargs: Keywords of the Keras optimizer.
    """

    _REFUSED = ("clipnorm", "clipvalue", "amsgrad", "gradient_accumulation_steps")

    # Attributes of the Keras optimizer that comes after this base.
    built: bool
    iterations: Any
    weight_decay: float | None
    global_clipnorm: float | None
    _trainable_variables: list[keras.Variable]

    def __init__(
        self, *args: Any, multipliers: Mapping[str, Any] | None = None, first: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._multipliers = RateMultipliers(multipliers, first)
        # The last operations of the newest update, by device.
        self._ended: dict[str, list[tf.Tensor]] = {}
        for name in self._REFUSED:
            if getattr(self, name, None):
                raise ValueError(f"firth's {type(self).__name__} takes no {name}: {getattr(self, name)}")

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Makes the optimizer's variables.

        Args:
            variables: Variables that will be updated.

        Raises:
            ValueError: for a multiplier of a path that no variable has.
        """
        if self.built:
            return
        self._multipliers.find(variables)
        # `update_step` decays; Keras's own decay has one rate for all.
        self.exclude_from_weight_decay(variables)  # type: ignore[attr-defined]  # A part of the Keras optimizer.
        self._make_variables(variables)

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        super().build(variables)  # type: ignore[misc]  # A part of the Keras optimizer.

    def apply(
        self, grads: Sequence[Tensor], trainable_variables: Sequence[keras.Variable] | None = None
    ) -> Tensor:
        """Updates the variables and returns the gradients' global norm before clipping, float32 [].

        Args:
            grads: Gradients of the variables, of this replica's share of the batch.
            trainable_variables: Variables to update; None for those that the optimizer was built with.
        """
        self._ended = {}
        grads = [_dense(grad) for grad in grads]
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
        if trainable_variables is not None:
            self.build(trainable_variables)
        indices = map(self._index, trainable_variables or self._trainable_variables)
        norm = _global_norm(self._multipliers.trained(grads, list(indices), self.iterations))
        if self.global_clipnorm:
            grads = self.clipped(grads, norm)
        super().apply(grads, trainable_variables)  # type: ignore[misc]
        return norm

    def clipped(self, grads: Sequence[Tensor], norm: Tensor) -> list[Tensor]:
        """Returns gradients as `apply` reads them, those of the whole batch clipped by their global norm.

        Args:
            grads: Gradients of the whole batch.
            norm: Their norm, as `apply` returns it, float32 [].
        """
        most = self.global_clipnorm
        scale = most / ops.maximum(norm, most) if most else ops.ones([])
        return [grad * ops.cast(scale, grad.dtype) for grad in grads]

    def update_step(self, gradient: Tensor, variable: Any, learning_rate: Tensor) -> None:
        """Decays and updates one variable, and its moments.

        Args:
            gradient: Gradient of the variable.
            variable: Variable to update.
            learning_rate: Learning rate of the step, float32 [].
        """
        multiplier = self._multipliers.multiplier(self._index(variable), self.iterations)
        if multiplier is not None:
            learning_rate = self._multiplied(learning_rate, multiplier)
        with self._turn(gradient, variable):
            if self.weight_decay and is_decayed(self._trainable_variables[self._index(variable)]):
                self._decay(variable, learning_rate)
            self._update(gradient, variable, learning_rate)

    @contextlib.contextmanager
    def _turn(self, gradient: Tensor, variable: Any) -> Iterator[None]:
        """Lets an update wait for its gradient, and for the end of the update before it on its device.

        TensorFlow computes as early as it can. It would decay all weights while the backward pass still holds
        their old values, and compute the inputs of all updates before the first one ends.
        """
        if keras.backend.backend() != "tensorflow" or tf.executing_eagerly():
            yield
            return
        with tf.control_dependencies([gradient, *self._ended.get(variable.device, ())]):
            yield
        # It reads the variable, and so comes after the writes to it.
        self._ended[variable.device] = [tf.raw_ops.VariableShape(input=variable.handle)]

    def _multiplied(self, learning_rate: Tensor, multiplier: Any) -> Tensor:
        return learning_rate * multiplier

    def _decay(self, variable: Any, rate: Tensor) -> None:
        decay, rate = (ops.cast(value, variable.dtype) for value in (self.weight_decay, rate))
        variable.assign_sub(variable * decay * rate)

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        super().update_step(gradient, variable, rate)  # type: ignore[misc]  # A part of the Keras optimizer.

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this optimizer."""
        return {**super().get_config(), **self._multipliers.config}  # type: ignore[misc]  # As above.

    def _index(self, variable: Any) -> int:
        return self._get_variable_index(variable)  # type: ignore[attr-defined]  # As above.

    def _clip_gradients(self, grads: Sequence[Tensor]) -> Sequence[Tensor]:
        return grads  # Done in `apply`.

    def _all_reduce_sum_gradients(
        self, grads_and_vars: Sequence[tuple[Tensor, keras.Variable]]
    ) -> Sequence[tuple[Tensor, keras.Variable]]:
        return list(grads_and_vars)  # Done in `apply`.


def _dense(gradient: Any) -> Tensor:
    """Returns a gradient as one tensor; TensorFlow's lists of rows with repeats are summed by it."""
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


def _global_norm(gradients: Sequence[Tensor]) -> Tensor:
    if keras.backend.backend() == "tensorflow":
        # One kernel a gradient.
        return tf.linalg.global_norm(gradients)
    return ops.sqrt(sum(ops.sum(ops.square(ops.cast(each, "float32"))) for each in gradients))


_BIAS = "bias"
# Scales and shifts of norms and of other layers that scale or shift each value.
_SCALES = ("beta", "gamma", "scale")
# Added to the scores of the first and of the last of a chain of tags.
_ENDS = ("starts", "ends")


def is_decayed(variable: keras.Variable) -> bool:
    """Returns true if a variable is decayed.

    It leaves out biases, also those that have an axis of heads as XLNet's or of directions as ELMo's, and the
    scales of norms. Kernels and tables are decayed (Devlin et al. 2018, BERT's released code).

    Example:

    >>> [is_decayed(keras.Variable([[1.0]], name=name)) for name in ("kernel", "position_bias")]
    [True, False]
    """
    name = variable.name
    return not name.endswith(_BIAS) and name not in (*_SCALES, *_ENDS)
