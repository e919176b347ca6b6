"""Tables of numbers about documents, as structured arrays of NumPy, and operations with bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.values import GroupValues, Part, Values, each_of
from firth.corpus.text.shingles import mix

# Number of rows that are gathered before they are merged: many small tables cost no more than a large one.
FOLD_ROWS = 2**17
Tables: TypeAlias = PCollection[np.ndarray]
# An element of the result of GroupTables: the number of a group and its tables.
Group = tuple[int, Values]
# Bits of the length and of the source's rank in the order of a document.
_LENGTH_BITS, _RANK_BITS = 44, 20
_MASK = 2**64 - 1


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


def gather(tables: Iterable[np.ndarray], held: Callable[[], int]) -> Iterator[list[np.ndarray]]:
    """Yields tables in lists of at least `FOLD_ROWS` rows, and of as many as the caller holds already.

    No row is therefore merged again and again.
    """
    waiting: list[np.ndarray] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) >= max(FOLD_ROWS, held()):
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def merge_tables(
    tables: Iterable[np.ndarray], merged: np.ndarray, merge: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Returns the rows of `merged` and of all tables, merged in parts by a function from rows to rows."""

    def held() -> int:
        return len(merged)

    for gathered in gather(tables, held):
        merged = merge(np.concatenate([merged, *gathered]))
    return merged


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
        for gathered in gather(tables, lambda: len(self.counts)):
            self._fold(gathered)

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


@beam.ptransform_fn
def GroupTables(
    tables: Mapping[str, Tables | tuple[Tables, ...]], keys: Mapping[str, str], grouping: Grouping
) -> PCollection[Group]:
    """Brings rows of the same key together: a dict of collections of tables to (group, `Values` by name).

    A value of the dict may also be a tuple of collections.

    Beam moves parts of tables, not single rows. If there is a table, there is at least one group, even if no
    table has a row, because Beam's `multi_processing` runner cannot group an empty collection
    (apache/beam#25315).

    Args:
        keys: Field of the key by name of the table. Keys are uint64 and evenly distributed.
    """

    def part(name: str, key: str) -> beam.PTransform:
        return beam.FlatMap(part_table, name, key, grouping.groups).with_output_types(Unmeasured)

    parts = tuple(
        table | f"Part[{name}][{i}]" >> part(name, key)
        for name, key in keys.items()
        for i, table in enumerate(each_of(tables[name]))
    )
    return parts | "Group" >> GroupValues(grouping)


def part_table(table: np.ndarray, name: str, key: str, groups: int) -> Iterator[Part]:
    """Yields the rows of a table by group; an empty table for group 0 if it has no rows."""
    if groups == 1:
        yield 0, (name, table)
        return
    group_of = table[key] % np.uint64(groups)
    for group in np.unique(group_of).tolist() or [0]:
        yield group, (name, table[group_of == group])


def id_halves(documents: Iterable[Document]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the documents' ids as two columns, uint64 [documents] each, ordered as the ids are."""
    ids = [int(document.id, 16) for document in documents]
    return np.array([each >> 64 for each in ids], np.uint64), np.array(
        [each & _MASK for each in ids], np.uint64
    )


def id_of(high: int | np.integer, low: int | np.integer) -> str:
    """Returns the id that has two halves.

    Example:

    >>> id_of(1, 10)
    '0000000000000001000000000000000a'
    """
    return f"{int(high):016x}{int(low):016x}"


def nodes_of(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Returns 64 bits for each id: uint64 [documents].

    Two of n documents have the same with a probability of n^2 / 2^65.

    Args:
        high: uint64 [documents], the upper 64 bits of the ids.
        low: uint64 [documents], the lower 64 bits of the ids.
    """
    return mix(high ^ mix(low))


def source_ranks(priority: Sequence[str], sources: Sequence[str]) -> dict[str, int]:
    """Returns the rank of each source by its name; the smallest rank is the most preferred source.

    Example:

    >>> source_ranks(["books"], ["web", "books"])
    {'books': 0, 'web': 1}
    """
    return {name: rank for rank, name in enumerate(dict.fromkeys([*priority, *sources]))}


def longest_first(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    """Returns an order by which the longest document is kept, and of these that of the most preferred source.

    Returns:
        uint64 [documents], smaller for documents that are kept rather than others.
    """
    lengths = np.array([len(document.text) for document in documents], np.uint64)
    return ((np.uint64(2**_LENGTH_BITS - 1) - lengths) << np.uint64(_RANK_BITS)) | source_first(
        documents, ranks
    )


def source_first(documents: Sequence[Document], ranks: Mapping[str, int]) -> np.ndarray:
    """Returns an order by which the documents of the most preferred source are kept.

    Returns:
        uint64 [documents], smaller for documents that are kept rather than others.
    """
    # A source that the recipe does not name comes last.
    return np.array([ranks.get(document.source, len(ranks)) for document in documents], np.uint64)
