"""The scores of one recipe's runs with several seeds, and how far they are apart."""

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from firth.scores import score_of


@dataclasses.dataclass(frozen=True)
class ScoreOfSeeds:
    """A score of the held-out records, of several runs.

    Attributes:
        name: Name of the score.
        values: Its value by seed.
        best_seed: Seed of the best value, the first of those that are as good.
    """

    name: str
    values: Mapping[int, float]
    best_seed: int

    @property
    def median(self) -> float:
        """The median of the values."""
        return statistics.median(self.values.values())

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the values, that of a sample; None of one value."""
        return statistics.stdev(self.values.values()) if len(self.values) > 1 else None

    @property
    def best(self) -> float:
        """The best value, which is one of several: a better guess of a new run is the median."""
        return self.values[self.best_seed]

    @property
    def text(self) -> str:
        """The score in one line.

        Example:

        >>> ScoreOfSeeds("accuracy", {0: 0.5, 1: 0.75, 2: 0.7}, 1).text
        'accuracy over 3 seeds: median 0.700, standard deviation 0.132, best 0.750 (seed 1)'
        """
        spread = "" if self.deviation is None else f", standard deviation {self.deviation:.3f}"
        seeds = f"{len(self.values)} seed{'s' if len(self.values) > 1 else ''}"
        best = f"best {self.best:.3f} (seed {self.best_seed})"
        return f"{self.name} over {seeds}: median {self.median:.3f}{spread}, {best}"

    def as_json(self) -> dict[str, Any]:
        """Returns the values and what is made of them, fit for JSON."""
        return {
            "median": self.median,
            "standard_deviation": self.deviation,
            "best": self.best,
            "best_seed": self.best_seed,
            "values": {str(seed): value for seed, value in self.values.items()},
        }


def scores_of_seeds(metrics: Mapping[int, Mapping[str, float]], names: Sequence[str]) -> list[ScoreOfSeeds]:
    """Returns the scores that all runs have, in the order of their names.

    Raises:
        ValueError: for an unknown score.

    Example:

    >>> found, = scores_of_seeds({0: {"brier": 0.4}, 1: {"brier": 0.1}}, ["brier", "accuracy"])
    >>> found.best_seed, found.best, found.median
    (1, 0.1, 0.25)
    """
    return [
        _score(name, {seed: of_run[name] for seed, of_run in metrics.items()})
        for name in names
        if all(name in of_run for of_run in metrics.values())
    ]


def _score(name: str, values: Mapping[int, float]) -> ScoreOfSeeds:
    best = max if score_of(name).greater_is_better else min
    return ScoreOfSeeds(name, values, best(values, key=values.__getitem__))
