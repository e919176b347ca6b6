"""Adafactor without a second moment for each weight of a matrix."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from firth.layers.elements.types import Tensor
from firth.training.optimizers.summed_gradients import SummedGradients


@keras.saving.register_keras_serializable("firth")
class Adafactor(SummedGradients, keras.optimizers.Adafactor):
    """Keras's Adafactor (Shazeer and Stern 2018), with its gradients summed before they are used.

    Of a matrix it keeps the second moments of rows and columns alone (section 3, algorithm 4), where Keras
    also keeps, from step to step, the matrix that is made of both. See `SummedGradients` for what else
    differs from its parent.
    """

    _rows: list[keras.Variable | None]
    _columns: list[keras.Variable | None]
    _velocities: list[keras.Variable | None]

    def _make_variables(self, variables: Sequence[keras.Variable]) -> None:
        keras.optimizers.Optimizer.build(self, variables)
        self._rows, self._columns, self._velocities = [], [], []
        for each in variables:
            is_factored = len(each.shape) > 1
            *others, rows, columns = each.shape if is_factored else (0, 0)
            self._rows.append(self._mean(each, (*others, rows), "rows") if is_factored else None)
            self._columns.append(self._mean(each, (*others, columns), "columns") if is_factored else None)
            own = None if is_factored else self.add_variable_from_reference(each, name="velocity")
            self._velocities.append(own)

    def _mean(self, variable: keras.Variable, shape: tuple[int, ...], name: str) -> keras.Variable:
        path = variable.path.replace("/", "_")
        return self.add_variable(shape, dtype=variable.dtype, name=f"{path}_velocity_of_{name}")

    def _multiplied(self, learning_rate: Tensor, multiplier: Any) -> Tensor:
        return self._relative(learning_rate) * multiplier

    def _relative(self, learning_rate: Tensor) -> Tensor:
        """Returns a learning rate, multiplied or not, capped at one over the root of the step."""
        return ops.minimum(learning_rate, 1.0 / ops.sqrt(self._step()))

    def _step(self) -> Tensor:
        return ops.cast(self.iterations + 1, "float32")

    def _update(self, gradient: Tensor, variable: Any, rate: Tensor) -> None:
        index = self._index(variable)
        kept = 1.0 - ops.power(self._step(), self.beta_2_decay)
        rows, columns = self._rows[index], self._columns[index]
        squared = ops.square(gradient) + self.epsilon_1
        if rows is None or columns is None:
            second = self._next_mean(self._velocities[index], squared, kept)
            update = gradient * ops.rsqrt(second)
        else:
            of_rows = self._next_mean(rows, ops.mean(squared, axis=-1), kept)
            of_columns = self._next_mean(columns, ops.mean(squared, axis=-2), kept)
            of_rows = of_rows / ops.mean(of_rows, axis=-1, keepdims=True)
            update = gradient * ops.expand_dims(ops.rsqrt(of_rows), -1)
            update = update * ops.expand_dims(ops.rsqrt(of_columns), -2)
        clipping = ops.maximum(1.0, _root_mean_square(update) / self.clip_threshold)
        size = ops.maximum(self.epsilon_2, _root_mean_square(variable))
        self.assign(variable, variable - size * self._relative(rate) / clipping * update)

    def _next_mean(self, place: Any, value: Tensor, kept: Tensor) -> Tensor:
        """Returns a mean with a new value, and stores it."""
        mean = kept * place + (1.0 - kept) * value
        self.assign(place, mean)
        return mean


def _root_mean_square(values: Any) -> Tensor:
    return ops.sqrt(ops.mean(ops.square(values)))
