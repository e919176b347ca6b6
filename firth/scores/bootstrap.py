"""Intervals by the bootstrap (Efron, 1979), and scores that are fast on many resamples.

The resample of a number is a function of the seed, that number and the number of examples alone. So two
systems are compared on the same resamples, and an interval is the same each time.

Each `*_of_places` returns a function from the places of a resample's examples to the value that the published
implementation has for them, and computes what all resamples share once; a test compares the two.
"""

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from firth.scores.inputs import Floats, Ints, label_ids, number_pairs

RESAMPLES = 1000
LEVEL = 0.95
OfPlaces = Callable[[Ints], float]


class Interval(NamedTuple):
    """A value with its confidence interval.

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
    """The number, seed and level of resamples.

    Attributes:
        level: Share of resamples within an interval.
        resamples: Number of resamples, each of which is scored.
        seed: Seed of the resamples.
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
        """Returns the interval of a value that can be computed of any examples by their places.

        Args:
            value_of: Function from the places of a resample's examples, int64 [examples], to its value.
        """
        if not examples:
            raise ValueError("no examples, so that there is nothing to resample")
        drawn = (np.random.default_rng([self.seed, number]) for number in range(self.resamples))
        values: Floats = np.array([value_of(each.integers(examples, size=examples)) for each in drawn])
        low, high = np.quantile(values, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Interval(value_of(np.arange(examples)), float(low), float(high))


def f1_of_places(
    references: Sequence[Hashable], predictions: Sequence[Hashable], *, positive: Hashable
) -> OfPlaces:
    """Returns F1 of one class, as a function of places."""
    counts_of, names = _confusion(references, predictions)
    if positive not in names:
        return lambda places: 0.0
    place = names.index(positive)
    return lambda places: float(_f1_of_classes(counts_of(places))[place])


def macro_f1_of_places(references: Sequence[Hashable], predictions: Sequence[Hashable]) -> OfPlaces:
    """Returns the mean of F1 over the classes that occur, as a function of places."""
    counts_of, _ = _confusion(references, predictions)

    def value_of(places: Ints) -> float:
        counts = counts_of(places)
        occurs = counts.sum(axis=0) + counts.sum(axis=1) > 0
        return float(_f1_of_classes(counts)[occurs].mean())

    return value_of


def matthews_of_places(references: Sequence[Hashable], predictions: Sequence[Hashable]) -> OfPlaces:
    """Returns Matthews' correlation (Gorodkin, 2004, equation 8), as a function of places."""
    counts_of, _ = _confusion(references, predictions)

    def value_of(places: Ints) -> float:
        counts = counts_of(places)
        right, given, total = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
        spread = (total**2 - right @ right) * (total**2 - given @ given)
        return float((np.trace(counts) * total - right @ given) / np.sqrt(spread)) if spread else 0.0

    return value_of


def pearson_of_places(
    references: Sequence[float],
    predictions: Sequence[float],
    *,
    bounds: tuple[float, float] | None = None,
) -> OfPlaces:
    """Returns Pearson's correlation, as a function of places."""
    right, given = number_pairs(references, predictions, bounds)
    return lambda places: _correlation(right[places], given[places])


def spearman_of_places(
    references: Sequence[float],
    predictions: Sequence[float],
    *,
    bounds: tuple[float, float] | None = None,
) -> OfPlaces:
    """Returns Spearman's correlation of ranks, as a function of places."""
    right, given = (_classes_in_order(each) for each in number_pairs(references, predictions, bounds))
    return lambda places: _correlation(_ranks(right[places]), _ranks(given[places]))


def _confusion(
    references: Sequence[Hashable], predictions: Sequence[Hashable]
) -> tuple[Callable[[Ints], Floats], list[Hashable]]:
    """Returns the function from places to numbers of examples, float64 [right, predicted], and the labels."""
    right, given, names = label_ids(references, predictions)
    size = len(names)
    pairs = right * size + given

    def counts_of(places: Ints) -> Floats:
        counts = np.bincount(pairs[places], minlength=size * size)
        return counts.reshape(size, size).astype(np.float64)

    return counts_of, names


def _f1_of_classes(counts: Floats) -> Floats:
    hits, all_of_class = np.diagonal(counts), counts.sum(axis=0) + counts.sum(axis=1)
    return 2 * hits / np.maximum(all_of_class, 1)


def _classes_in_order(numbers: Floats) -> Ints:
    return np.asarray(np.unique(numbers, return_inverse=True)[1], np.int64)


def _ranks(classes: Ints) -> Floats:
    """Returns the ranks of numbers that are known by their order, ties at their mean rank."""
    counts = np.bincount(classes)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[classes], np.float64)


def _correlation(right: Floats, given: Floats) -> float:
    if np.all(right == right[0]) or np.all(given == given[0]):
        return 0.0
    right, given = right - right.mean(), given - given.mean()
    return float(right @ given / np.sqrt((right @ right) * (given @ given)))
