"""Spans of texts that occur several times in a corpus: which occurrence is the first, and what stays."""

from collections.abc import Iterator

import numpy as np

from firth.corpus.grouping.table_groups import Group
from firth.corpus.grouping.tables import FirstRows, table_of

# Codes of spans that occur several times: a later occurrence, and the first one.
CUT, FIRST = range(2)
ORDER = ("order", "id_high", "id_low", "position")


def decide_spans(element: Group) -> Iterator[np.ndarray]:
    """Yields marks about the spans of a group that occur several times, for `JoinMarks`."""
    group = element[1]
    first = FirstRows(group.of("spans"), "span", ORDER)
    for spans in group.of("spans"):
        best, counts = first.of(spans["span"])
        several = (counts > 1) & (spans["check"] == best["check"])
        spans, best = spans[several], best[several]
        is_first = np.logical_and.reduce([spans[field] == best[field] for field in ORDER])
        code = np.where(is_first, FIRST, CUT).astype(np.uint8)
        columns = {field: spans[field] for field in ("id_high", "id_low", "position")}
        yield table_of(**columns, code=code)


def units_that_stay(marks: np.ndarray, units: int, span: int) -> np.ndarray:
    """Returns which units of a document stay: bool [units].

    A unit goes if a span that contains it is a later occurrence, unless it is also part of the first
    occurrence of a span.
    """
    goes, is_first = (covered(marks["position"][marks["code"] == code], units, span) for code in (CUT, FIRST))
    return ~goes | is_first


def covered(positions: np.ndarray, units: int, span: int) -> np.ndarray:
    """Returns which units are in one of several spans: bool [units].

    Example:

    >>> covered(np.array([1, 2]), 6, 2).tolist()
    [False, True, True, True, False, False]
    """
    starts = np.asarray(positions, np.int64)
    changes = np.zeros(units + 1, np.int64)
    np.add.at(changes, starts, 1)
    np.add.at(changes, np.minimum(starts + span, units), -1)
    return changes.cumsum()[:units] > 0
