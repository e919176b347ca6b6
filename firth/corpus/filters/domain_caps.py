"""Which documents of a domain are beyond its limits."""

from collections.abc import Iterable, Iterator

import numpy as np

from firth.corpus.grouping.table_groups import Group
from firth.corpus.grouping.tables import FOLD_ROWS, sort_table, table_of

ORDER = ("order", "id_high", "id_low")


def beyond_caps(element: Group, limits: np.ndarray) -> Iterator[np.ndarray]:
    """Yields marks of the documents of a group that are beyond the limits of their domains, for `JoinMarks`.

    Args:
        element: A group of tables `entries`: `domain`, a hash of it; `order`, `id_high` and `id_low`, by
            which the documents of a domain are taken; their `words` and `bytes`; and `cap`, the index of the
            limits.
        limits: int64 [caps, 3], limits on documents, words and bytes.
    """
    group = element[1]
    first = FirstBeyond(group.of("entries"), limits)
    for entries in group.of("entries"):
        goes = _too_large(entries, limits) | first.reached_by(entries)
        yield table_of(**{name: entries[name][goes] for name in ("id_high", "id_low")})


class FirstBeyond:
    """The first document of each domain that would exceed the limits.

    It holds the rows up to that document, and so many more that are to be merged, however many documents a
    domain has.

    Args:
        limits: int64 [caps, 3], limits on documents, words and bytes.
    """

    def __init__(self, tables: Iterable[np.ndarray], limits: np.ndarray) -> None:
        self._limits = limits
        self._rows: np.ndarray | None = None
        self._beyond = np.zeros(0, bool)
        waiting: list[np.ndarray] = []
        for table in tables:
            waiting.append(table[~_too_large(table, limits)])
            if sum(map(len, waiting)) >= max(FOLD_ROWS, len(self._beyond)):
                self._fold(waiting)
                waiting = []
        if waiting:
            self._fold(waiting)

    def reached_by(self, entries: np.ndarray) -> np.ndarray:
        """Returns which documents are that document of their domain or come after it: bool [entries]."""
        found = np.zeros(len(entries), bool)
        if self._rows is None or not self._beyond.any():
            return found
        firsts = self._rows[self._beyond]
        places = np.searchsorted(firsts["domain"], entries["domain"]).clip(max=len(firsts) - 1)
        nearest = firsts[places]
        reached = np.ones(len(entries), bool)
        for name in reversed(ORDER):
            reached = (entries[name] > nearest[name]) | ((entries[name] == nearest[name]) & reached)
        return reached & (entries["domain"] == nearest["domain"])

    def _fold(self, tables: list[np.ndarray]) -> None:
        parts = tables if self._rows is None else [self._rows, *tables]
        rows = sort_table(np.concatenate(parts), ["domain", *ORDER])
        starts = np.flatnonzero(np.append(True, rows["domain"][1:] != rows["domain"][:-1])[: len(rows)])
        beyond = (_sums(_sizes(rows), starts) > self._limits[rows["cap"]]).any(1)
        # Of a domain, the row at which a sum first exceeds a limit is the last that counts.
        stays = _sums(beyond.astype(np.int64), starts) - beyond == 0
        self._rows, self._beyond = rows[stays], beyond[stays]


def _sizes(entries: np.ndarray) -> np.ndarray:
    """Returns int64 [entries, 3]: one document each, its words and its bytes."""
    return np.stack([np.ones(len(entries), np.int64), entries["words"], entries["bytes"]], 1)


def _too_large(entries: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Returns bool [entries]: whether a document exceeds a limit on its own."""
    large: np.ndarray = (_sizes(entries) > limits[entries["cap"]]).any(1)
    return large


def _sums(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Returns the running sums of rows, which begin anew at each start."""
    totals = values.cumsum(0)
    before = totals[starts] - values[starts]
    sums: np.ndarray = totals - np.repeat(before, np.diff(np.append(starts, len(values))), 0)
    return sums
