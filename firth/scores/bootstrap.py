"""Intervals by the bootstrap: the score of many resamples of the examples (Efron, 1979), percentiles of it.

The resample of a number is a function of the seed, that number and the number of examples alone. So two
systems are compared on the same resamples, and an interval is the same each time.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from firth.scores.inputs import Floats, Ints

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
            value_of: Function from the places of a resample's examples, int64 [examples], to its value.
        """
        if not examples:
            raise ValueError("no examples, so that there is nothing to resample")
        drawn = (np.random.default_rng([self.seed, number]) for number in range(self.resamples))
        values: Floats = np.array([value_of(each.integers(examples, size=examples)) for each in drawn])
        low, high = np.quantile(values, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Interval(value_of(np.arange(examples)), float(low), float(high))
