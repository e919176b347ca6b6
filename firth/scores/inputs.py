"""Checks of references and predictions: as many of both, of one type, none hidden, none NaN."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# The label of examples whose labels a benchmark does not publish.
HIDDEN = -1


def check_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> None:
    """Refuses references and predictions that are not pairs, and references that are hidden.

    Example:

    >>> check_pairs(["a", None], ["a", "a"])
    Traceback (most recent call last):
        ...
    ValueError: example 1 has no reference: test data without labels cannot be scored
    """
    if len(references) != len(predictions):
        raise ValueError(f"{len(references)} references, but {len(predictions)} predictions")
    for place, (reference, prediction) in enumerate(zip(references, predictions)):
        if reference is None:
            raise ValueError(f"example {place} has no reference: test data without labels cannot be scored")
        if prediction is None:
            raise ValueError(f"example {place} has no prediction")


def mean_over_pairs(
    value_of: Callable[[Any, Any], float], references: Sequence[Any], predictions: Sequence[Any]
) -> float:
    """Returns the mean of a value of each reference with its prediction; 0 of no examples."""
    check_pairs(references, predictions)
    values = [value_of(*pair) for pair in zip(references, predictions)]
    return sum(values) / len(values) if values else 0.0


def label_ids(
    references: Sequence[Hashable], predictions: Sequence[Hashable]
) -> tuple[Ints, Ints, list[Any]]:
    """Returns references and predictions as places in the sorted list of their labels, and that list.

    Args:
        references: Labels, all str, all int or all bool.
    """
    check_pairs(references, predictions)
    types = {label_type(each) for each in references}, {label_type(each) for each in predictions}
    if len(types[0] | types[1]) > 1:
        raise ValueError(f"references are of type {_names(types[0])}, predictions of type {_names(types[1])}")
    if types[0] == {"int"}:
        _refuse_hidden(references)
    names = sorted({*references, *predictions})  # type: ignore[type-var]
    places = {name: place for place, name in enumerate(names)}
    return (
        np.array([places[each] for each in references], np.int64),
        np.array([places[each] for each in predictions], np.int64),
        names,
    )


def _refuse_hidden(references: Sequence[Any]) -> None:
    if HIDDEN in references:
        place = list(references).index(HIDDEN)
        raise ValueError(f"reference {place} is {HIDDEN}, a hidden test label: it cannot be scored")


def label_type(label: Any) -> str:
    """Returns the type of a label: 'str', 'bool' or 'int', of NumPy or not.

    Example:

    >>> [label_type(each) for each in ("yes", True, np.int64(1))]
    ['str', 'bool', 'int']
    """
    for name, types in (("str", str), ("bool", (bool, np.bool_)), ("int", (int, np.integer))):
        if isinstance(label, types):
            return name
    raise ValueError(f"a label is str, int or bool, not {type(label).__name__}: {label!r}")


def _names(types: set[str]) -> str:
    return " and ".join(sorted(types)) or "none"


def finite_numbers(values: Sequence[Any], what: str) -> Floats:
    """Returns numbers as an array."""
    numbers = np.asarray(values, np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(f"{what} {wrong[0]} is {numbers[wrong[0]]}, not a finite number")
    return numbers


def number_pairs(
    references: Sequence[float], predictions: Sequence[float], bounds: tuple[float, float] | None
) -> tuple[Floats, Floats]:
    """Returns references and predictions of a regression as arrays."""
    check_pairs(references, predictions)
    right, predicted = finite_numbers(references, "reference"), finite_numbers(predictions, "prediction")
    if right.size and bool(np.all(right == HIDDEN)):
        raise ValueError(f"all references are {HIDDEN}, hidden test labels: they cannot be scored")
    if bounds is not None:
        outside = np.flatnonzero((right < bounds[0]) | (right > bounds[1]))
        if outside.size:
            place = outside[0]
            raise ValueError(f"reference {place} is {right[place]}, not between {bounds[0]} and {bounds[1]}")
    return right, predicted
