"""The choice of the documents to keep among those with the same label."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, Drop, Grouping, Keep
from firth.corpus.grouping.marks import Decisions, Documents, JoinMarks
from firth.corpus.grouping.table_groups import Group, GroupTables, Tables
from firth.corpus.grouping.tables import FirstRows, table_of
from firth.corpus.report.corpus_report import CLUSTER_HISTOGRAM

# Codes: one of several documents with this id is kept; the document duplicates another; or evaluation data.
ONE_STAYS, DUPLICATE, IN_BENCHMARK = range(3)
ORDER = ("order", "id_high", "id_low")


@beam.ptransform_fn
def ChooseKept(
    entries: Tables, grouping: Grouping, by_rank: bool = False
) -> tuple[Tables, PCollection[CorpusCounts]]:
    """Chooses the copies to keep: tables of entries to (tables of marks, counts of cluster sizes).

    An entry describes a document: `label`, which is the same for all documents of a cluster; `check`, further
    bits that must agree too; and `order`, `id_high` and `id_low`, by which the smallest entry of a cluster is
    kept. A mark has `id_high`, `id_low` and `code`; documents without a mark are kept.

    Args:
        entries: The tables of entries.
        grouping: Settings for bringing the entries of a label together.
        by_rank: Whether all documents with the smallest `order` of a cluster are kept, and not only one. The
            order 0 is then that of evaluation data.
    """
    outputs = (
        {"entries": entries}
        | GroupTables({"entries": "label"}, grouping)
        | "Choose" >> beam.FlatMap(_choose, by_rank).with_outputs("totals", main="marks")
    )
    return outputs.marks, outputs.totals


def _choose(element: Group, by_rank: bool) -> Iterator[Any]:
    group = element[1]
    first = FirstRows(group.of("entries"), "label", ORDER)
    labels, kept = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for entries in group.of("entries"):
        best, _ = first.of(entries["label"])
        is_best = np.logical_and.reduce([entries[field] == best[field] for field in ORDER])
        kept.append(entries["label"][is_best])
        goes = (entries["check"] == best["check"]) & ~is_best
        if by_rank:
            goes &= entries["order"] != best["order"]
        labels.append(entries["label"][goes])
        code = np.where(by_rank & (best["order"] == 0), IN_BENCHMARK, DUPLICATE)
        yield _marks(entries[goes], code[goes])
    again, counts = np.unique(np.concatenate(kept), return_counts=True)
    again = again[counts > 1]
    labels.append(again)
    if len(again):
        yield _marks(first.of(again)[0], np.full(len(again), ONE_STAYS))
    yield TaggedOutput("totals", _cluster_sizes(first, np.concatenate(labels)))


def _marks(entries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return table_of(id_high=entries["id_high"], id_low=entries["id_low"], code=codes.astype(np.uint8))


def _cluster_sizes(first: FirstRows, labels: np.ndarray) -> CorpusCounts:
    totals = CorpusCounts()
    if len(labels):
        _, counts = first.of(np.unique(labels))
        totals.histograms.update((CLUSTER_HISTOGRAM, count) for count in counts.tolist())
    return totals


def decide_copies(
    documents: Documents, entries: Tables, grouping: Grouping, by_rank: bool = False
) -> Decisions:
    """Returns the decisions about documents of which copies go, and the counts of cluster sizes.

    Args:
        documents: Lists of documents.
        entries: Their entries, of `ChooseKept`.
        grouping: Settings for bringing rows and documents of the same key together.
        by_rank: Whether all documents with the smallest `order` of a cluster are kept.
    """
    marks, totals = entries | "ChooseKept" >> ChooseKept(grouping, by_rank)
    decided = {"documents": documents, "marks": marks} | "Join" >> JoinMarks(decide, grouping)
    return decided, totals


def decide(document: Document, marks: np.ndarray, again: bool) -> Decision:
    """Returns the decision about a document that follows from its marks, as a `decide` of `JoinMarks`.

    Args:
        document: The document.
        marks: Table of the document's marks from `ChooseKept`, most often without a row.
        again: Whether the same document has been read before.
    """
    code = int(marks["code"].max()) if len(marks) else ONE_STAYS
    if code == IN_BENCHMARK:
        return Drop("in_benchmark")
    return Drop("duplicate") if code == DUPLICATE or again else Keep(document)
