"""Tables of numbers about documents, as structured arrays of NumPy, and operations with bounded memory."""

from collections.abc import Iterable, Sequence

import numpy as np

# So many rows are gathered before they are merged, so that many small tables cost no more than a large one.
FOLD_ROWS = 2**17


def table_of(**columns: np.ndarray) -> np.ndarray:
    """Returns a table with the columns as fields.

    Example:

    >>> table_of(node=np.array([1, 2]), code=np.array([0, 1], np.uint8))["code"]
    array([0, 1], dtype=uint8)
    """
    table = np.empty(
        len(next(iter(columns.values()))), [(name, each.dtype) for name, each in columns.items()]
    )
    for name, column in columns.items():
        table[name] = column
    return table


def sort_table(table: np.ndarray, fields: Sequence[str]) -> np.ndarray:
    """Returns the rows of a table in ascending order of some fields."""
    return table[np.lexsort([table[field] for field in reversed(fields)])]


def distinct(table: np.ndarray) -> np.ndarray:
    """Returns the different rows of a table, sorted."""
    names = table.dtype.names or ()
    ordered = sort_table(table, names)
    return ordered[_changes(ordered, names)]


def _changes(table: np.ndarray, fields: Sequence[str]) -> np.ndarray:
    """Returns bool [rows]: whether a row differs from the one before it in one of the fields."""
    changes = np.zeros(len(table), bool)
    changes[:1] = True
    for field in fields:
        changes[1:] |= table[field][1:] != table[field][:-1]
    return changes


class FirstRows:
    """The first row of each key in an order, and the number of its rows.

    The memory taken depends on the number of different keys, not on the number of rows.

    Attributes:
        rows: Table of the first row of each key, sorted by key.
        counts: int64 [keys], the number of rows of each key.

    Example:

    >>> table = table_of(key=np.array([7, 5, 7]), value=np.array([2, 9, 1]))
    >>> first = FirstRows([table, table], "key", ["value"])
    >>> first.rows["value"].tolist(), first.counts.tolist(), first.of(np.array([7]))[0]["value"].tolist()
    ([9, 1], [2, 4], [1])
    """

    def __init__(self, tables: Iterable[np.ndarray], key: str, order: Sequence[str]) -> None:
        self._key, self._order = key, order
        self.rows = np.zeros(0, [(field, np.uint64) for field in [key, *order]])
        self.counts = np.zeros(0, np.int64)
        waiting: list[np.ndarray] = []
        for table in tables:
            waiting.append(table)
            if sum(map(len, waiting)) >= max(FOLD_ROWS, len(self.counts)):
                self._fold(waiting)
                waiting = []
        if waiting:
            self._fold(waiting)

    def _fold(self, tables: list[np.ndarray]) -> None:
        rows = np.concatenate([self.rows, *tables] if len(self.rows) else tables)
        counts = np.append(self.counts, np.ones(len(rows) - len(self.counts), np.int64))
        places = np.lexsort([rows[field] for field in reversed([self._key, *self._order])])
        rows = rows[places]
        starts = np.flatnonzero(_changes(rows, [self._key]))
        self.rows = rows[starts]
        self.counts = np.add.reduceat(counts[places], starts) if len(starts) else self.counts

    def of(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the first row and the number of rows of each key.

        Args:
            keys: uint64 [n], keys that have at least one row.

        Returns:
            Table of n rows, and int64 [n].
        """
        places = np.searchsorted(self.rows[self._key], keys)
        return self.rows[places], self.counts[places]
