"""Grouping of values on Beam through files, so that no runner has to hold the values."""

import pickle
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import PCollection
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.coders import as_row
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Grouping
from firth.corpus.io.records import Patterns, record_files

# Number of bytes that a worker gathers before it writes a file.
FILE_BYTES = 2**25
# Number of bytes of compressed documents in a group. Their text is about four times as large; rows about them
# are smaller, unless documents have only a few words.
GROUP_BYTES = 2**23
# The least number of groups, so that several workers have work in a small corpus too.
MIN_GROUPS = 8

# A table of numbers, or a list of documents or of other objects with `held_bytes`.
Value = np.ndarray | list[Any]
Part = tuple[int, tuple[str, Value]]


def grouping_for(patterns: Patterns, scratch: str) -> Grouping:
    """Returns a grouping with as many groups as keep each group small."""
    size = sum(size for _, size in record_files(patterns))
    return Grouping(max(MIN_GROUPS, -(-size // GROUP_BYTES)), scratch)


class Values:
    """The values of one group by name. They can be iterated over several times."""

    def __init__(self, values: Iterable[tuple[str, bytes]]) -> None:
        self._values = values

    def of(self, name: str) -> Iterator[Any]:
        """Yields the values of a name, in no particular order."""
        for each, data in self._values:
            if each == name:
                yield _unpack(data)


class _Place(NamedTuple):
    """The place of a value in a file."""

    name: str
    path: str
    offset: int
    size: int


class _FiledValues(Values):
    def __init__(self, places: Iterable[_Place]) -> None:
        self._places = sorted(map(_Place._make, places))

    def of(self, name: str) -> Iterator[Any]:
        for place in self._places:
            if place.name == name:
                with FileSystems.open(place.path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
                    file.seek(place.offset)
                    yield _unpack(file.read(place.size))


def each_of(collections: Any) -> tuple[PCollection, ...]:
    """Returns a tuple of collections unchanged, and a single collection as a tuple of one."""
    return collections if isinstance(collections, tuple) else (collections,)


@beam.ptransform_fn
def GroupValues(
    parts: PCollection[Part] | tuple[PCollection[Part], ...], grouping: Grouping
) -> PCollection[tuple[int, Values]]:
    """Groups elements (group, (name, value)) of one collection, or of a tuple of them, as (group, Values).

    With a scratch folder, values are written to files there and only their places go through the runner. The
    runner then needs no memory for the values, and on one machine they are not sent between processes.
    """
    scratch = grouping.scratch
    values: type[Values] = _FiledValues if scratch else Values
    write = beam.ParDo(_Write(scratch)) if scratch else beam.Map(_pack_part)
    write = write.with_output_types(tuple[int, Any])
    # Each collection is written on its own: flattened before, its values might go through the runner.
    written = tuple(part | f"Write[{i}]" >> write for i, part in enumerate(each_of(parts)))
    places = written | "Flatten" >> beam.Flatten()
    return (
        places
        | "GroupByKey" >> beam.GroupByKey()
        | "Read" >> beam.MapTuple(lambda group, each: (group, values(each)))
    )


def _pack_part(part: Any) -> tuple[int, tuple[str, bytes]]:
    group, (name, value) = part
    return group, (name, _pack([value]))


class _Write(beam.DoFn):
    def __init__(self, scratch: str) -> None:
        self._scratch = scratch

    def start_bundle(self) -> None:
        self._values: dict[tuple[int, str], list[Value]] = {}
        self._size = 0

    def process(self, part: Any) -> Iterator[tuple[int, _Place]]:
        group, (name, value) = part
        self._values.setdefault((group, name), []).append(value)
        self._size += _size(value)
        if self._size >= FILE_BYTES:
            yield from self._flush()

    def finish_bundle(self) -> Iterator[Any]:
        return map(GlobalWindows.windowed_value, self._flush())

    def _flush(self) -> list[tuple[int, _Place]]:
        path, offset, places = f"{self._scratch}/{uuid.uuid4().hex}", 0, []
        if self._values:
            with FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED) as file:
                for (group, name), values in self._values.items():
                    data = _pack(values)
                    file.write(data)
                    places.append((group, _Place(name, path, offset, len(data))))
                    offset += len(data)
        self.start_bundle()
        return places


def _size(value: Value) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(each.held_bytes for each in value)


def _pack(values: list[Any]) -> bytes:
    """Returns several values of one kind, joined to one and pickled."""
    if isinstance(values[0], np.ndarray):
        return pickle.dumps(np.concatenate(values), pickle.HIGHEST_PROTOCOL)
    members = [each for value in values for each in value]
    if members and isinstance(members[0], Document):
        # Plain tuples are much quicker to pickle than instances of a class.
        members = list(map(as_row, members))
    return pickle.dumps(members, pickle.HIGHEST_PROTOCOL)


def _unpack(data: bytes) -> Value:
    value = pickle.loads(data)
    is_rows = isinstance(value, list) and value and type(value[0]) is tuple
    return [Document(*row) for row in value] if is_rows else value
