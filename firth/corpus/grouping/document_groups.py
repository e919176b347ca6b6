"""Grouping of documents on Beam."""

import itertools
import operator
from collections.abc import Iterator

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth.corpus.documents.batching import by_key, in_batches
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.values import GroupValues, Part, Values, each_of
from firth.corpus.io.records import BATCH_BYTES

_NAME = "documents"


def part_documents(documents: list[Document], groups: int) -> Iterator[Part]:
    """Yields the documents by group, which depends on their ids. Without documents, group 0 is an empty list."""
    # The second half of an id is a hash in hexadecimal.
    parts = by_key(documents, lambda document: int(document.id[-16:], 16) % groups)
    for group, members in (parts or {0: []}).items():
        yield group, (_NAME, members)


def grouped_documents(values: Values) -> Iterator[list[Document]]:
    """Yields a group's documents in lists of about `BATCH_BYTES`; one empty list for an empty group."""
    documents = itertools.chain.from_iterable(values.of(_NAME))
    return in_batches(documents, BATCH_BYTES, operator.attrgetter("held_bytes"))


@beam.ptransform_fn
def PutDown(
    documents: PCollection[list[Document]] | tuple[PCollection[list[Document]], ...], grouping: Grouping
) -> PCollection[tuple[int, Values]]:
    """Writes documents to files: collections of lists of documents to groups for `grouped_documents`.

    It takes one collection or a tuple of them.

    It is for functions that need all documents before they can decide about any: without files, the runner
    would hold the corpus. A function that has another input next to the groups must call `grouped_documents`
    itself, because results of an earlier function would be held in the runner until the other input is there.
    """
    part = beam.FlatMap(part_documents, grouping.groups).with_output_types(Unmeasured)
    parts = tuple(each | f"Part[{i}]" >> part for i, each in enumerate(each_of(documents)))
    return parts | "Group" >> GroupValues(grouping)
