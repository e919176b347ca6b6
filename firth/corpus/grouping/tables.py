"""Tables of numbers about documents: NumPy's structured arrays, sorted and folded in bounded memory."""

from collections.abc import Iterable, Sequence

import numpy as np

# So many rows are gathered before they are folded, so that many small tables cost no more than a large one.
FOLD_ROWS = 2**17


def table_of(**columns: np.ndarray) -> np.ndarray:
    """Returns a table with the columns as fields, each of one dtype and all of one length.

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
    """Returns the rows in the order of the fields, the first of them counting most."""
    return table[np.lexsort([table[field] for field in reversed(fields)])]


def distinct(table: np.ndarray) -> np.ndarray:
    """Returns the rows that differ, sorted."""
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
    """Of each key the first row in an order, whatever order they come in, and how many rows it has.

    Takes memory for the different keys, not for the rows.

    Args:
        tables: Of the same fields.
        key: The field that rows have in common, unsigned.
        order: The fields whose smallest values come first.

    Attributes:
        rows: The first of each key, sorted by key.
        counts: int64 [keys].

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
        """Returns the first row and the count of each of the keys, all of which must have been seen."""
        places = np.searchsorted(self.rows[self._key], keys)
        return self.rows[places], self.counts[places]
