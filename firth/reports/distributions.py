"""Distributions of the values that cleaning steps compare with their thresholds."""

import bisect
import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

BINS = 24
# The shares of documents whose values are in the table of the page.
SHARES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
# Values above 1 that differ by more than this factor have bins of equal ratios.
_LINEAR = 100


@dataclasses.dataclass(frozen=True)
class Distribution:
    """Documents by one value that a step measures.

    Attributes:
        step: Name of the step.
        measure: Name of the value.
        values: The values, ascending.
        documents: Number of documents of each value.
    """

    step: str
    measure: str
    values: Sequence[float]
    documents: Sequence[int]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Distribution":
        """Returns the distribution of a row of `measured` in a corpus report."""
        return cls(row["step"], row["measure"], row["values"], row["documents"])

    @property
    def total(self) -> int:
        """Number of documents."""
        return sum(self.documents)

    @property
    def quantiles(self) -> list[float]:
        """The value at each of `SHARES`."""
        return [self.quantile(share) for share in SHARES]

    def quantile(self, share: float) -> float:
        """Returns the least value that at least a share of the documents does not exceed.

        Example:

        >>> Distribution("length", "words", (2, 8), (1, 9)).quantile(0.5)
        8
        """
        sums = list(itertools.accumulate(self.documents))
        return self.values[min(bisect.bisect_left(sums, share * sums[-1]), len(sums) - 1)]

    @property
    def is_logarithmic(self) -> bool:
        """True if the bins have equal ratios, and not equal widths."""
        low, high = self.quantile(0.01), self.quantile(0.99)
        return low > 0 and high > 1 and high > _LINEAR * low

    def bins(self) -> tuple[list[float], list[int]]:
        """Returns the bounds of bins, one more than there are bins, and the number of documents in each.

        They reach from the value at 1 % of the documents to that at 99 %, so that single documents do not
        make the others look alike; the first and the last bin have those beyond too.

        Example:

        >>> Distribution("length", "words", (2, 26), (1, 9)).bins()
        ([2.0, 14.0, 26.0], [1, 9])
        """
        low, high = self.quantile(0.01), self.quantile(0.99)
        if low == high:
            high = low + 1
        spread = np.geomspace if self.is_logarithmic else np.linspace
        # More bins than values would be gaps, since values have two digits.
        different = sum(low <= value <= high for value in self.values)
        bounds = spread(low, high, min(BINS, different) + 1)
        held = np.clip(self.values, bounds[0], bounds[-1])
        counts, _ = np.histogram(held, bounds, weights=self.documents)
        return bounds.tolist(), [int(each) for each in counts]
