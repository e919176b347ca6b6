"""The factors that multiply the learning rates of some weights."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
from keras import ops

# By path of a weight a number from 0 to 1, or a function to it from the number of updates of the run so far.
Multiplier: TypeAlias = "float | Callable[[Any], Any]"
Multipliers: TypeAlias = Mapping[str, Multiplier]


@keras.saving.register_keras_serializable("firth")
class StartsAt(keras.optimizers.schedules.LearningRateSchedule):
    """Multiplier of a weight that is frozen at first: 0, and from some step on 1.

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


class RateMultipliers:
    """The factors that multiply the updates of some variables.

    Example:

    >>> rates = RateMultipliers({"kernel": 0.5}, first=0)
    >>> rates.find([keras.Variable([[1.0]], name="other"), keras.Variable([[1.0]], name="kernel")])
    >>> rates.multiplier(0, updates=7), rates.multiplier(1, updates=7)
    (None, 0.5)
    """

    def __init__(self, multipliers: Mapping[str, Any] | None, first: int) -> None:
        self._by_path = {path: _read(path, value) for path, value in (multipliers or {}).items()}
        self._by_index: dict[int, Multiplier] = {}
        self._first = first

    def find(self, variables: Sequence[keras.Variable]) -> None:
        """Finds the variables that have a multiplier."""
        if not self._by_path:
            return
        places = {variable.path: index for index, variable in enumerate(variables)}
        if unknown := [path for path in self._by_path if path not in places]:
            raise ValueError(f"multipliers: no variable that is trained has the path {', '.join(unknown)}")
        self._by_index = {places[path]: value for path, value in self._by_path.items()}

    def multiplier(self, index: int, updates: Any) -> Any:
        """Returns the multiplier of a variable, a float or float32 [], or None without one."""
        value = self._by_index.get(index)
        return value(updates - self._first) if callable(value) else value

    def trained(self, grads: Sequence[Any], indices: Sequence[int], updates: Any) -> list[Any]:
        """Returns gradients, with zeros for the variables that are frozen in this step."""

        def shown(grad: Any, index: int) -> Any:
            if not callable(self._by_index.get(index)):
                return grad
            return grad * ops.cast(self.multiplier(index, updates) > 0.0, grad.dtype)

        return [shown(grad, index) for grad, index in zip(grads, indices, strict=True)]

    @property
    def config(self) -> dict[str, Any]:
        """The arguments as plain values; nothing without multipliers."""
        if not self._by_path:
            return {}
        said = {path: _written(value) for path, value in self._by_path.items()}
        return {"multipliers": said, "first": self._first}


def _read(path: str, value: Any) -> Multiplier:
    if isinstance(value, Mapping):
        value = keras.saving.deserialize_keras_object(value)
    if callable(value) or 0.0 <= value <= 1.0:
        return value
    raise ValueError(f"multipliers: {path}: {value} is not from 0 to 1")


def _written(value: Multiplier) -> Any:
    return keras.saving.serialize_keras_object(value) if callable(value) else value
