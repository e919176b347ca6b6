"""Documents brought together in groups, in Beam."""

from collections.abc import Iterator

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth.corpus.coders import Unmeasured
from firth.corpus.document import Document
from firth.corpus.grouping import GroupValues, Part, Values
from firth.corpus.records import BATCH_BYTES
from firth.corpus.steps import Grouping

_NAME = "documents"


def part_documents(documents: list[Document], groups: int) -> Iterator[Part]:
    """Yields documents by group, which depends on their ids; of none an empty list."""
    parts: dict[int, list[Document]] = {}
    for document in documents:
        # The end of an id, which is a hash, in hexadecimal.
        parts.setdefault(int(document.id[-16:], 16) % groups, []).append(document)
    for group, members in (parts or {0: []}).items():
        yield group, (_NAME, members)


def grouped_documents(values: Values) -> Iterator[list[Document]]:
    """Yields a group's documents in lists of about `BATCH_BYTES`; an empty list where there are none."""
    batch: list[Document] = []
    size = 0
    for documents in values.of(_NAME):
        for document in documents:
            batch.append(document)
            size += document.held_bytes
            if size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
    yield batch


class PutDown(beam.PTransform):
    """Puts lists of documents down in files: what comes out is little, and for `TakeUp` alone.

    Who has to go through all documents before anything can be said of one would have the runner hold them.
    """

    def __init__(self, grouping: Grouping):
        super().__init__()
        self._grouping = grouping

    def expand(self, documents: PCollection[list[Document]]):  # noqa: D102
        part = beam.FlatMap(part_documents, self._grouping.groups).with_output_types(Unmeasured)
        return documents | "Part" >> part | "Group" >> GroupValues(self._grouping)


class TakeUp(beam.PTransform):
    """Takes up what was put down, in another order and other lists. Each that waits takes up its own."""

    def expand(self, groups) -> PCollection[list[Document]]:  # noqa: D102
        take = beam.FlatMap(lambda element: grouped_documents(element[1]))
        return groups | take.with_output_types(list[Document])
