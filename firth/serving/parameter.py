"""Parameters of signatures: numbers next to the texts."""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# A signature with such numbers is exported twice: under its name it reads its texts alone, and has the
# defaults; with this after its name it reads texts and numbers.
WITH_PARAMETERS = "_with_parameters"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A number for each text.

    Attributes:
        dtype: Name of its dtype.
        default: Value where none is given.
        example: A value that is valid, to try a model with.
        least: Least value that is valid.
        most: Greatest value that is valid.
        is_above: Whether the least value itself is not valid.
        meaning: Its meaning, a noun.
    """

    dtype: str
    default: float
    example: float
    least: float
    most: float
    is_above: bool = False
    meaning: str = ""

    @property
    def bounds(self) -> str:
        """The valid range, in words.

        Example:

        >>> Parameter("float32", 1.0, 0.9, 0.0, 1.0, is_above=True).bounds
        'above 0.0 and at most 1.0'
        """
        return f"{'above' if self.is_above else 'at least'} {self.least} and at most {self.most}"

    def fits(self, values: Any) -> Any:
        """Returns which values are valid."""
        return ((values > self.least) if self.is_above else (values >= self.least)) & (values <= self.most)


def values_of(
    described: Mapping[str, Mapping[str, Any]], given: Mapping[str, float | Sequence[float]], count: int
) -> dict[str, npt.NDArray[Any]]:
    """Returns the values of all parameters of a signature, [count] each.

    Example:

    >>> described = {"top_k": dataclasses.asdict(Parameter("int32", 0, 5, 0, 100))}
    >>> values_of(described, {"top_k": 7}, 2)["top_k"].tolist()
    [7, 7]
    >>> values_of(described, {"topk": 7}, 2)
    Traceback (most recent call last):
        ...
    ValueError: there is no parameter topk; did you mean top_k?
    >>> values_of(described, {"top_k": -1}, 2)
    Traceback (most recent call last):
        ...
    ValueError: top_k: must be at least 0 and at most 100, not -1
    """
    if not described:
        raise ValueError("the signature takes no parameters")
    for name in given:
        if name not in described:
            near = difflib.get_close_matches(name, described, 1)
            hint = f"did you mean {near[0]}?" if near else f"one of: {', '.join(described)}"
            raise ValueError(f"there is no parameter {name}; {hint}")
    parameters = {name: Parameter(**each) for name, each in described.items()}
    return {
        name: _values(name, each, given.get(name, each.default), count) for name, each in parameters.items()
    }


def _values(name: str, parameter: Parameter, given: Any, count: int) -> npt.NDArray[Any]:
    values = np.asarray(given)
    if values.dtype.kind not in "iuf" or (parameter.dtype.startswith("int") and values.dtype.kind == "f"):
        kind = "a whole number" if parameter.dtype.startswith("int") else "a number"
        raise ValueError(f"{name}: must be {kind}, not {given!r}")
    if values.shape not in ((), (count,)):
        raise ValueError(f"{name}: {values.size} values for {count} texts")
    wrong = values[~parameter.fits(values)]
    if wrong.size:
        raise ValueError(f"{name}: must be {parameter.bounds}, not {wrong.ravel()[0]}")
    return np.broadcast_to(values, [count]).astype(parameter.dtype)
