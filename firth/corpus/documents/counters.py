"""Sums of counters of parts of a corpus."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any


def sum_counters(counts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    """Returns the sum of counts, as a function for Beam's `CombineGlobally`.

    Example:

    >>> sum_counters([{"rows": 3}, {"rows": 2, "tokens": 7}])
    {'rows': 5, 'tokens': 7}
    """
    # Beam turns Counters into plain dicts on their way between workers.
    total: Counter[Any] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)
