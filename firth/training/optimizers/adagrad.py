"""Adagrad, whose sums may be in bfloat16."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from firth.layers.elements.types import Tensor
from firth.training.optimizers.moments import KeptValues


@keras.saving.register_keras_serializable("firth")
class Adagrad(KeptValues, keras.optimizers.Adagrad):
    """Keras's Adagrad (Duchi et al. 2011), with its gradients summed before they are used.

    See `SummedGradients`, and `KeptValues` for its sums of squares in bfloat16, whose dtype is `moments`.
    """

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        keras.optimizers.Optimizer.build(self, variables)
        first = keras.initializers.Constant(self.initial_accumulator_value)
        self._accumulators = [self._kept(each, "accumulator", first) for each in variables]

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        if not self._is_rounded:
            super()._update(gradient, variable, rate)
            return
        index = self._index(variable)
        place = self._accumulators[index]
        total = ops.cast(place, "float32") + ops.square(gradient)
        self._store([place], [total], index)
        self.assign(variable, variable - rate * gradient * ops.rsqrt(total + self.epsilon))
