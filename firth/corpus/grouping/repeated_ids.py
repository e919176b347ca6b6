"""Counting of documents of one source whose records state the same id."""

from collections import Counter
from collections.abc import Collection, Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection

from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import CorpusCounts, Count, DroppedExample
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.tables import FirstRows, id_halves, table_of
from firth.corpus.grouping.values import GroupValues, Part, Values

# The step under which the counts `ids` and `documents` are kept. The reason of its examples is their source.
REPEATED_IDS_STEP = "repeated_ids"
_NAME = "stated"


@beam.ptransform_fn
def RepeatedIds(
    documents: PCollection[list[Document]], sources: Collection[str], grouping: Grouping
) -> PCollection[CorpusCounts]:
    """Counts ids that several records of a source state: lists of documents to counts.

    The first half of a document's id is a hash of the id that its record states (`document_id`). A worker
    holds these halves for one group, and one batch of documents.
    """
    part = beam.FlatMap(_part, sources, grouping.groups).with_output_types(Unmeasured)
    groups = documents | "Part" >> part | "Group" >> GroupValues(grouping)
    return groups | "Count" >> beam.MapTuple(_count)


def _part(documents: list[Document], sources: Collection[str], groups: int) -> Iterator[Part]:
    placed = (
        Document(each.id, "", each.source, "", each.uri) for each in documents if each.source in sources
    )
    parts = group_by_key(placed, lambda document: int(document.id[:16], 16) % groups)
    for group, members in (parts or {0: []}).items():
        yield group, (_NAME, members)


def _count(group: int, values: Values) -> CorpusCounts:
    first = FirstRows(map(_stated, values.of(_NAME)), "stated", [])
    totals, found = CorpusCounts(), set()
    for documents in values.of(_NAME):
        stated = _stated(documents)
        for place in np.flatnonzero(first.of(stated["stated"])[1] > 1).tolist():
            each = documents[place]
            found.add((each.source, stated["stated"][place]))
            totals.counts[Count(REPEATED_IDS_STEP, each.source, "documents")] += 1
            totals.add_example(
                REPEATED_IDS_STEP, each.source, DroppedExample(each.id, each.source, each.uri, "")
            )
    ids = Counter(source for source, _ in found)
    totals.counts.update({Count(REPEATED_IDS_STEP, source, "ids"): count for source, count in ids.items()})
    return totals


def _stated(documents: list[Document]) -> np.ndarray:
    return table_of(stated=id_halves(documents)[0])
