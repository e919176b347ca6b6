"""Rows of one key brought together in Beam, in groups of bounded size."""

from collections.abc import Iterator, Mapping

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.values import GroupValues, Part, Values, each_of

Tables = PCollection[np.ndarray]
# What GroupTables yields.
Group = tuple[int, Values]


class GroupTables(beam.PTransform):
    """Brings the rows of one key together: a dict of tables to groups, whose `Values` are tables by name.

    A name may stand for a tuple of collections.

    Beam moves parts of tables, not rows. Where there is a table, there is a group, even if no table has a
    row: Beam's runner of several processes cannot group what is empty (apache/beam#25315).

    Args:
        keys: By name of the table, the field of its key: uint64, evenly spread.
        grouping: How many groups, and where.
    """

    def __init__(self, keys: Mapping[str, str], grouping: Grouping) -> None:
        super().__init__()
        self._keys = dict(keys)
        self._grouping = grouping

    def expand(self, tables):  # noqa: D102
        parts = tuple(
            table | f"Part[{name}][{i}]" >> self._part(name, key)
            for name, key in self._keys.items()
            for i, table in enumerate(each_of(tables[name]))
        )
        return parts | "Group" >> GroupValues(self._grouping)

    def _part(self, name: str, key: str) -> beam.PTransform:
        part = beam.FlatMap(part_table, name, key, self._grouping.groups)
        return part.with_output_types(Unmeasured)


def part_table(table: np.ndarray, name: str, key: str, groups: int) -> Iterator[Part]:
    """Yields the rows of a table by group; of a table without rows an empty one."""
    if groups == 1:
        yield 0, (name, table)
        return
    group_of = table[key] % np.uint64(groups)
    for group in np.unique(group_of).tolist() or [0]:
        yield group, (name, table[group_of == group])
