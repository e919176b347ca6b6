"""Grouping of the rows of tables by key, on Beam, in groups of bounded size."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.values import GroupValues, Part, Values, each_of

Tables: TypeAlias = PCollection[np.ndarray]
# An element of the result of GroupTables: the number of a group and its tables.
Group = tuple[int, Values]


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
