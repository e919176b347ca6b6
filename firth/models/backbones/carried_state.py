"""The state that a recurrent model hands from batch to batch in training."""

from collections.abc import Iterable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.types import Tensor


@keras.saving.register_keras_serializable(package="firth")
class CarriedState(keras.layers.Layer):
    """Two variables, one row for each row of a batch. They are a part of training, not of the model.

    Checkpoints of a training run hold them, so that it goes on as if it had not stopped. A saved model does
    not: it starts each text with zeros.
    """

    def __init__(self, widths: Iterable[Iterable[int]], **kwargs: Any) -> None:
        super().__init__(trainable=False, **kwargs)
        self.widths = tuple(tuple(shape) for shape in widths)
        self.parts: list[keras.Variable] = []

    def build(self, rows: int) -> None:
        """Creates the variables, float32 zeros of shape [rows, *widths]."""
        self.parts = [
            self.add_weight(
                name=f"part_{place}",
                shape=(rows, *shape),
                initializer="zeros",
                trainable=False,
                autocast=False,
            )
            for place, shape in enumerate(self.widths)
        ]

    def read(self, rows: Tensor | int | None) -> tuple[Tensor, ...]:
        """Returns the state as the last batch left it."""
        if not self.parts:
            raise ValueError("`carry_state` needs the number of rows: call `backbone.carry(rows)` once")
        if isinstance(rows, int) and rows != self.parts[0].shape[0]:
            raise ValueError(f"a batch has {rows} rows, the state of `carry_state` {self.parts[0].shape[0]}")
        return tuple(ops.convert_to_tensor(part) for part in self.parts)

    def write(self, state: Iterable[Tensor]) -> None:
        """Takes the state that a batch leaves; no gradient goes back through it.

        Args:
            state: Float tensors [rows, *widths], one for each variable.
        """
        for part, value in zip(self.parts, state):
            part.assign(ops.stop_gradient(value))

    def save_own_variables(self, store: Any) -> None:
        """Saves nothing."""

    def load_own_variables(self, store: Any) -> None:
        """Loads nothing."""

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "widths": self.widths}
