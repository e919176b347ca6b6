"""Rows of one key brought together in Beam, in groups of bounded size."""

import pickle
from collections.abc import Iterable, Iterator, Mapping

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

# A group has about this many rows, of at most some tens of bytes, so that it fits a worker many times over.
ROWS_A_GROUP = 2**20

Tables = PCollection[np.ndarray]
_Part = tuple[int, tuple[str, bytes]]
# What GroupTables yields; TableGroup reads it.
Group = tuple[int, Iterable[tuple[str, bytes]]]


class TableGroup:
    """The rows of some keys, of one or several tables. They may be gone through again and again."""

    def __init__(self, group: Group):
        self._values = group[1]

    def tables(self, name: str) -> Iterator[np.ndarray]:
        """Yields the rows of one table in parts, in any order."""
        for each, data in self._values:
            if each == name:
                yield pickle.loads(data)


class CountGroups(beam.PTransform):
    """Counts how many groups keep each at about `ROWS_A_GROUP` rows: some tables to one number."""

    def expand(self, tables):  # noqa: D102
        counts = tuple(each | f"Count[{i}]" >> beam.Map(len) for i, each in enumerate(tables))
        rows = counts | "Flatten" >> beam.Flatten() | "Sum" >> beam.CombineGlobally(sum)
        return rows | "Groups" >> beam.Map(lambda rows: -(-rows // ROWS_A_GROUP) or 1)


class GroupTables(beam.PTransform):
    """Brings the rows of one key together: a dict of tables to groups.

    There are as many groups as `CountGroups` says, so that memory does not grow with the corpus; a small
    corpus has one. Beam moves parts of tables, not rows. Where there is a table, there is a group, even if
    no table has a row: Beam's runner of several processes cannot group what is empty (apache/beam#25315).

    Args:
        keys: By name of the table, the field of its key: uint64, evenly spread.
        groups: Their number, if it has been counted before.
    """

    def __init__(self, keys: Mapping[str, str], groups: PCollection[int] | None = None):
        super().__init__()
        self._keys = dict(keys)
        self._groups = groups

    def expand(self, tables):  # noqa: D102
        groups = beam.pvalue.AsSingleton(self._groups or tuple(tables.values()) | CountGroups())
        parts = tuple(
            tables[name] | f"Part[{name}]" >> beam.FlatMap(_parts, name, key, groups).with_output_types(_Part)
            for name, key in self._keys.items()
        )
        joined = parts | "Flatten" >> beam.Flatten() if len(parts) > 1 else parts[0]
        return joined | "GroupByKey" >> beam.GroupByKey()


def _parts(table: np.ndarray, name: str, key: str, groups: int) -> Iterator[_Part]:
    group_of = table[key] % np.uint64(groups)
    for group in np.unique(group_of).tolist() or [0]:
        yield group, (name, pickle.dumps(table[group_of == group], pickle.HIGHEST_PROTOCOL))
