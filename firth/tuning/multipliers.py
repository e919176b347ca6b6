"""The factors that multiply the learning rates of some weights."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import keras
from keras import ops

# By path of a weight a number from 0 to 1, or a function to it from the number of updates of the run so far.
Multiplier: TypeAlias = "float | Callable[[Any], Any]"
Multipliers: TypeAlias = Mapping[str, Multiplier]


@keras.saving.register_keras_serializable("firth")
class StartsAt(keras.optimizers.schedules.LearningRateSchedule):
    """Multiplier of a weight that stays as it is at first: 0, and from some step on 1.

    Example:

    >>> [float(StartsAt(2)(step)) for step in range(4)]
    [0.0, 0.0, 1.0, 1.0]
    """

    def __init__(self, first: int) -> None:
        self.first = first

    def __call__(self, step: Any) -> Any:
        """Returns the multiplier of update `step`, float32 []."""
        return ops.cast(ops.greater_equal(step, self.first), "float32")

    def get_config(self) -> dict[str, Any]:
        """Returns the argument that rebuilds this multiplier."""
        return {"first": self.first}
