"""Documents brought together in groups, in Beam."""

import itertools
import operator
from collections.abc import Iterator

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth.corpus.documents.batching import in_batches
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.values import GroupValues, Part, Values, each_of
from firth.corpus.io.records import BATCH_BYTES

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
    documents = itertools.chain.from_iterable(values.of(_NAME))
    return in_batches(documents, BATCH_BYTES, operator.attrgetter("held_bytes"))


class PutDown(beam.PTransform):
    """Puts lists of documents down in files: one collection, or a tuple, to groups for `grouped_documents`.

    Who has to go through all documents before anything can be said of one would have the runner hold them.
    A function that takes another input next to them has to call `grouped_documents` itself: where that is not
    there yet, what was done before waits in the runner.
    """

    def __init__(self, grouping: Grouping) -> None:
        super().__init__()
        self._grouping = grouping

    def expand(self, documents: PCollection[list[Document]]):  # noqa: D102
        part = beam.FlatMap(part_documents, self._grouping.groups).with_output_types(Unmeasured)
        parts = tuple(each | f"Part[{i}]" >> part for i, each in enumerate(each_of(documents)))
        return parts | "Group" >> GroupValues(self._grouping)
