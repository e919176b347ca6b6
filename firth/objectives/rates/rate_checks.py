"""A measured rate and its bounds."""

import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features

# A right objective leaves bounds this wide once in some millions of measurements.
SIGMAS = 5.0
_ROUNDING = 1e-9


@dataclasses.dataclass(frozen=True)
class RateCheck:
    """One measured rate, with its bounds.

    Attributes:
        name: Name of the rate.
        measured: Rate, or another mean.
        lower: Least value that the recipe and the number of draws allow.
        upper: Largest value that they allow.
    """

    name: str
    measured: float
    lower: float
    upper: float

    @property
    def ok(self) -> bool:
        """True if the rate is within its bounds."""
        return self.lower - _ROUNDING <= self.measured <= self.upper + _ROUNDING

    def __str__(self) -> str:
        return f"{self.name} is {self.measured:.4g}, expected {self.lower:.4g} to {self.upper:.4g}"


@dataclasses.dataclass(frozen=True)
class Rates:
    """All measured rates of an objective.

    Attributes:
        checks: Rates, each with its bounds.
        histograms: Counts by number, such as the number of spans of each length, by name.
    """

    checks: tuple[RateCheck, ...]
    histograms: dict[str, dict[int, int]] = dataclasses.field(default_factory=dict)

    @property
    def broken(self) -> tuple[RateCheck, ...]:
        """The rates that are out of bounds."""
        return tuple(check for check in self.checks if not check.ok)

    def __getitem__(self, name: str) -> RateCheck:
        return next(check for check in self.checks if check.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain numbers and strings, fit for JSON."""
        return {
            "ok": not self.broken,
            "rates": [{**dataclasses.asdict(check), "ok": check.ok} for check in self.checks],
            "histograms": {
                name: {str(key): count for key, count in sorted(counts.items())}
                for name, counts in self.histograms.items()
            },
        }


def exactly(name: str, part: float, whole: float, expected: float) -> RateCheck:
    """Returns the check of a share that is not left to chance.

    Example:

    >>> exactly("selected", 14, 100, expected=15).ok
    False
    """
    return between(name, part, whole, expected, expected)


def between(name: str, part: float, whole: float, lower: float, upper: float) -> RateCheck:
    """Returns the check of a share whose part should be between two numbers."""
    whole = max(whole, 1)
    return RateCheck(name, float(part / whole), float(lower / whole), float(upper / whole))


def by_chance(name: str, part: float, chances: Iterable[float] | npt.NDArray[Any]) -> RateCheck:
    """Returns the check of a share of independent draws, each of which hits with its own probability.

    Example: 480 heads of 1,000 coins are fine, 400 are not.

    >>> by_chance("heads", 480, [0.5] * 1000).ok, by_chance("heads", 400, [0.5] * 1000).ok
    (True, False)
    """
    chances = np.asarray(list(chances) if not isinstance(chances, np.ndarray) else chances, np.float64)
    return near(name, part, len(chances), chances.sum(), float((chances * (1 - chances)).sum()))


def near(name: str, part: float, whole: float, expected: float, variance: float) -> RateCheck:
    """Returns the check of a sum over `whole` with a known expectation and variance."""
    width = SIGMAS * math.sqrt(max(variance, 0.0))
    # With few draws the distribution is not a normal one: a single draw may always go either way.
    width += 1.0 if variance > 0 else 0.0
    lower = max(expected - width, 0.0) if expected >= 0 else expected - width
    return between(name, part, whole, lower, expected + width)


def effective_draws(sizes: Iterable[int]) -> float:
    """Returns the number of independent draws that vary as much as draws each made for several tokens.

    Example:

    >>> effective_draws([1, 1, 1, 1]), effective_draws([2, 2])
    (4.0, 2.0)
    """
    found = np.asarray(list(sizes), np.float64)
    return float(found.sum() ** 2 / (found**2).sum()) if found.size else 0.0


def counted(numbers: Iterable[int]) -> dict[int, int]:
    """Returns the number of times that each number occurs."""
    values, counts = np.unique(np.asarray(list(numbers), np.int64), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist()))


Arrays = dict[str, npt.NDArray[Any]]


@dataclasses.dataclass(frozen=True)
class Sample:
    """Some rows with their features.

    Attributes:
        config: Objective of the recipe.
        tokenizer: Tokenizer of the rows.
        rows: Arrays as `features.row_specs`, [n, ...] each.
        negatives: Negative rows in the same form.
        made: Features of the rows, [n, ...] each.
    """

    config: Any
    tokenizer: Any
    rows: Arrays
    negatives: Arrays
    made: Arrays

    @functools.cached_property
    def special_ids(self) -> npt.NDArray[Any]:
        """Ids of all special pieces, int32 [pieces]."""
        return np.array(self.tokenizer.special_ids, np.int32)

    def is_special(self, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns a bool for each id, True for special pieces, in the same shape."""
        return self._specials.take(np.asarray(ids) + 1, mode="clip")

    @functools.cached_property
    def _specials(self) -> npt.NDArray[Any]:
        # A place more at both ends, for ids that no piece has.
        found = np.zeros(self.tokenizer.vocabulary_size() + 2, bool)
        found[self.special_ids + 1] = True
        return found

    def documents(self) -> Iterator[tuple[int, int, npt.NDArray[Any]]]:
        """Yields row, number from 0 and raw tokens of every document."""
        for row, lengths in enumerate(self.rows[features.CHUNK_LENGTHS]):
            texts = np.split(self.rows[features.RAW_TOKENS][row], np.cumsum(lengths))
            for number, length in enumerate(lengths):
                if length:
                    yield row, number, texts[number]


def padding_share(sample: Sample, name: str = "padding", documents: str = features.DOCUMENT_IDS) -> RateCheck:
    """Returns the share of padding, without bounds."""
    ids = sample.made[documents]
    return RateCheck(name, float((ids == 0).mean()), 0.0, 1.0)
