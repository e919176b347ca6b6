"""Intervals by the bootstrap: the score of many resamples of the examples (Efron, 1979), percentiles of it.

The resample of a number is a function of the seed, that number and the number of examples alone. So two
systems are compared on the same resamples, and an interval is the same each time.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from firth.scores.inputs import Floats, Ints, finite_numbers

RESAMPLES = 1000
LEVEL = 0.95


class Interval(NamedTuple):
    """A value and where it would lie on other examples of the same kind.

    Attributes:
        value: Value on the examples themselves.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Resampling:
    """How examples are resampled.

    Attributes:
        level: Share of resamples within an interval.
        resamples: Number of resamples, each of which is scored.
        seed: Seed of the resamples.

    Raises:
        ValueError: for a level outside 0 to 1, or no resamples.
    """

    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the values."""
        if not 0 < self.level < 1:
            raise ValueError(f"level must be between 0 and 1, got {self.level}")
        if self.resamples < 1:
            raise ValueError(f"resamples must be at least 1, got {self.resamples}")

    def interval(self, examples: int, value_of: Callable[[Ints], float]) -> Interval:
        """Returns the interval of a value that is known of any examples by their places.

        Args:
            examples: Number of examples.
            value_of: Function from the places of a resample's examples, int64 [examples], to its value.

        Raises:
            ValueError: for no examples.
        """
        if not examples:
            raise ValueError("no examples, so that there is nothing to resample")
        drawn = (np.random.default_rng([self.seed, number]) for number in range(self.resamples))
        values: Floats = np.array([value_of(each.integers(examples, size=examples)) for each in drawn])
        low, high = np.quantile(values, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Interval(value_of(np.arange(examples)), float(low), float(high))


_USUAL = Resampling()


def mean_interval(values: Sequence[float], how: Resampling = _USUAL) -> Interval:
    """Returns the interval of a mean: of each resample, one mean of an array.

    Args:
        values: Value of each example.
        how: How examples are resampled.

    Raises:
        ValueError: for no examples, or a value that is NaN.

    Example:

    >>> mean_interval([1.0, 1.0, 1.0])
    Interval(value=1.0, low=1.0, high=1.0)
    """
    numbers = finite_numbers(values, "value of example")
    return how.interval(numbers.size, lambda places: float(numbers[places].mean()))


def score_interval(
    function: Callable[[list[Any], list[Any]], float],
    references: Sequence[Any],
    predictions: Sequence[Any],
    how: Resampling = _USUAL,
) -> Interval:
    """Returns the interval of a score that is not a mean over examples, such as Matthews' or BLEU.

    Args:
        function: Score of references and predictions.
        references: What is right, one for each example.
        predictions: What was predicted, one for each example.
        how: How examples are resampled.

    Raises:
        ValueError: as of `mean_interval`.
    """

    def value_of(places: Ints) -> float:
        return function([references[each] for each in places], [predictions[each] for each in places])

    return how.interval(len(references), value_of)


def mean_difference(
    values: Sequence[float],
    other_values: Sequence[float],
    how: Resampling = _USUAL,
) -> Interval:
    """Returns the interval of the mean of one system less that of another, on the same examples.

    Args:
        values: Value of each example, of the one system.
        other_values: Value of each example, of the other.
        how: How examples are resampled.

    Raises:
        ValueError: if the numbers of values differ, or as of `mean_interval`.

    Example:

    >>> mean_difference([1.0, 1.0], [0.5, 0.5]).low
    0.5
    """
    if len(values) != len(other_values):
        raise ValueError(f"{len(values)} examples of one system, but {len(other_values)} of the other")
    numbers = finite_numbers(values, "value of example") - finite_numbers(other_values, "value of example")
    return mean_interval([float(each) for each in numbers], how)


def score_difference(
    function: Callable[[list[Any], list[Any]], float],
    references: Sequence[Any],
    predictions: Sequence[Any],
    other_predictions: Sequence[Any],
    how: Resampling = _USUAL,
) -> Interval:
    """Returns the interval of the score of one system less that of another, on the same resamples.

    Args:
        function: Score of references and predictions.
        references: What is right, one for each example.
        predictions: What the one system predicted.
        other_predictions: What the other system predicted.
        how: How examples are resampled.

    Raises:
        ValueError: as of `mean_interval`.
    """

    def apart(right: list[Any], pairs: list[Any]) -> float:
        return function(right, [one for one, _ in pairs]) - function(right, [other for _, other in pairs])

    if len(predictions) != len(other_predictions):
        raise ValueError(
            f"{len(predictions)} predictions of one system, but {len(other_predictions)} of the other"
        )
    pairs = list(zip(predictions, other_predictions))
    return score_interval(apart, references, pairs, how)
