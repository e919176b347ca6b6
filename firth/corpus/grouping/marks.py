"""Joining of documents with the marks that steps made about them."""

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

from firth.corpus.documents.batching import group_by_key, split_into_batches
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import Decision, Grouping
from firth.corpus.grouping.tables import id_halves, part_table, sort_table
from firth.corpus.grouping.values import GroupValues, Part, Values, each_of
from firth.corpus.io.records import BATCH_BYTES

# Function from a document, its marks (most documents have no mark), and whether the same document has come
# before, because it was read twice, to the decision about the document.
Decide = Callable[[Document, np.ndarray, bool], Decision]
Documents: TypeAlias = PCollection[list[Document]]
# The result of a CorpusStep.
Decisions = tuple[PCollection[list[tuple[Document, Decision]]], PCollection[CorpusCounts]]
_NAME = "documents"


@beam.ptransform_fn
def JoinMarks(
    parts: Mapping[str, PCollection[Any]], decide: Decide, grouping: Grouping
) -> PCollection[list[tuple[Document, Decision]]]:
    """Decides about documents by marks: `documents` and `marks` to lists of (document, decision).

    A mark is a row about a document: the tables `marks` have the fields `id_high` and `id_low`, and further
    ones for `decide`. A worker holds the marks and the documents' ids of one group, and one batch of
    documents.

    Raises:
        CorpusError: on a worker, if two different texts have the same id, since a mark of one of them would
            decide about the other too.
    """
    groups = grouping.groups
    part = beam.FlatMap(part_documents, groups).with_output_types(Unmeasured)
    documents = parts["documents"] | "PartDocuments" >> part
    part = beam.FlatMap(part_table, "marks", "id_low", groups).with_output_types(Unmeasured)
    marks = parts["marks"] | "PartMarks" >> part
    return (documents, marks) | "Group" >> GroupValues(grouping) | "Decide" >> beam.FlatMap(_decide, decide)


def _decide(element: tuple[int, Values], decide: Decide) -> Iterator[Any]:
    marks = MarkIndex(element[1].of("marks"))
    seen: dict[str, int] = {}
    for documents in grouped_documents(element[1]):
        yield [(document, _one(document, rows, seen, decide)) for document, rows in marks.of(documents)]


def _one(document: Document, rows: np.ndarray, seen: dict[str, int], decide: Decide) -> Decision:
    again = document.id in seen
    text = hash(document.text)
    if seen.setdefault(document.id, text) != text:
        raise CorpusError(
            f"several documents have the id {document.id!r}, one of them at {document.uri!r}; steps on "
            "the whole corpus tell documents apart by their ids"
        )
    return decide(document, rows, again and len(rows) > 0)


class MarkIndex:
    """An index of marks by the id of their document."""

    def __init__(self, tables: Iterable[np.ndarray]) -> None:
        parts = list(tables)
        self._rows = sort_table(np.concatenate(parts), ["id_low"]) if parts else None

    def of(self, documents: list[Document]) -> Iterator[tuple[Document, np.ndarray]]:
        """Yields each document with its marks."""
        if self._rows is None:
            yield from ((document, np.zeros(0)) for document in documents)
            return
        high, low = id_halves(documents)
        starts, ends = (np.searchsorted(self._rows["id_low"], low, side) for side in ("left", "right"))
        for i, document in enumerate(documents):
            rows = self._rows[starts[i] : ends[i]]
            yield document, rows[rows["id_high"] == high[i]]


def part_documents(documents: list[Document], groups: int) -> Iterator[Part]:
    """Yields the documents by group, which depends on their ids; one empty group without documents."""
    # The second half of an id is a hash in hexadecimal.
    parts = group_by_key(documents, lambda document: int(document.id[-16:], 16) % groups)
    for group, members in (parts or {0: []}).items():
        yield group, (_NAME, members)


def grouped_documents(values: Values) -> Iterator[list[Document]]:
    """Yields a group's documents in lists of about `BATCH_BYTES`; one empty list for an empty group."""
    documents = itertools.chain.from_iterable(values.of(_NAME))
    return split_into_batches(documents, BATCH_BYTES, operator.attrgetter("held_bytes"))


@beam.ptransform_fn
def SpillDocuments(
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
