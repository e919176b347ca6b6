"""The step that drops all but one of several documents with the same text."""

import functools
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.documents.corpus_counts import CLUSTER_HISTOGRAM, CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Grouping, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents, JoinMarks
from firth.corpus.grouping.tables import (
    FirstRows,
    Group,
    GroupTables,
    Tables,
    id_halves,
    id_of,
    longest_first,
    source_ranks,
    table_of,
)
from firth.recipes.corpus.duplicates import ExactDuplicatesStep

# Codes: the document is kept; it duplicates another of the corpus; or a document outside of it.
KEPT, DUPLICATE, OUTSIDE = range(3)
ORDER = ("order", "id_high", "id_low")


class ExactDuplicates(CorpusStep[ExactDuplicatesStep]):
    """Drops all documents with the same text but one, for the reason `duplicate`.

    The document of the most preferred source is kept; of several, the one with the smallest id. Texts are
    considered the same if 128 bits of their hash are. Workers hold rows of 40 bytes, never the texts of a
    cluster.

    Example:

    >>> documents = [Document(id, "Same.", "docs", "CC0", id) for id in ("1a", "2b")]
    >>> describe_exactly(documents, {"docs": 0})["id_low"].tolist()
    [26, 43]
    """

    reasons = frozenset({"duplicate"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        ranks = source_ranks(self._config.source_priority, setting.sources)
        entries = documents | "Describe" >> beam.Map(describe_exactly, ranks)
        return decide_copies(documents, entries, setting.grouping)


def describe_exactly(documents: list[Document], ranks: dict[str, int]) -> np.ndarray:
    """Returns a table with one entry for each document, labelled by its text's hash, for `ChooseKept`."""
    digests = np.frombuffer(b"".join(digest(document.text) for document in documents), ">u8").reshape(-1, 2)
    high, low = id_halves(documents)
    return table_of(
        label=digests[:, 0].astype(np.uint64),
        check=digests[:, 1].astype(np.uint64),
        order=longest_first(documents, ranks),
        id_high=high,
        id_low=low,
    )


@beam.ptransform_fn
def ChooseKept(
    entries: Tables, grouping: Grouping, by_rank: bool = False, has_outside: bool = False
) -> tuple[Tables, PCollection[CorpusCounts]]:
    """Chooses the copies to keep: tables of entries to (tables of marks, counts of cluster sizes).

    An entry describes a document: `label`, which is the same for all documents of a cluster; `check`, further
    bits that must agree too; and `order`, `id_high` and `id_low`, by which the smallest entry of a cluster is
    kept. A mark has `id_high`, `id_low` and `code`, and of the cluster `first_high` and `first_low`, the id
    of its smallest entry, and its `size`; documents without a mark are kept, and are alone in their cluster.
    """
    outputs = (
        {"entries": entries}
        | GroupTables({"entries": "label"}, grouping)
        | "Choose" >> beam.FlatMap(_choose, by_rank, has_outside).with_outputs("totals", main="marks")
    )
    return outputs.marks, outputs.totals


def _choose(element: Group, by_rank: bool, has_outside: bool) -> Iterator[Any]:
    group = element[1]
    first = FirstRows(group.of("entries"), "label", ORDER)
    labels, kept = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for entries in group.of("entries"):
        best, sizes = first.of(entries["label"])
        is_outside = has_outside & (entries["order"] == 0)
        is_best = np.logical_and.reduce([entries[field] == best[field] for field in ORDER])
        kept.append(entries["label"][is_best])
        is_linked = (entries["check"] == best["check"]) & (sizes > 1) & ~is_outside
        goes = is_linked & ~(entries["order"] == best["order"] if by_rank else is_best)
        labels.append(entries["label"][goes])
        code = np.where(goes, np.where(has_outside & (best["order"] == 0), OUTSIDE, DUPLICATE), KEPT)
        yield _marks(entries[is_linked], code[is_linked], best[is_linked], sizes[is_linked])
    again, counts = np.unique(np.concatenate(kept), return_counts=True)
    again = again[counts > 1]
    labels.append(again)
    yield TaggedOutput("totals", _cluster_sizes(first, np.concatenate(labels)))


def _marks(entries: np.ndarray, codes: np.ndarray, best: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return table_of(
        id_high=entries["id_high"],
        id_low=entries["id_low"],
        code=codes.astype(np.uint8),
        first_high=best["id_high"],
        first_low=best["id_low"],
        size=sizes,
    )


def _cluster_sizes(first: FirstRows, labels: np.ndarray) -> CorpusCounts:
    totals = CorpusCounts()
    if len(labels):
        _, counts = first.of(np.unique(labels))
        totals.histograms.update((CLUSTER_HISTOGRAM, count) for count in counts.tolist())
    return totals


def decide_copies(
    documents: Documents, entries: Tables, grouping: Grouping, by_rank: bool = False, outside: str = ""
) -> Decisions:
    """Returns the decisions about documents of which copies go, and the counts of cluster sizes."""
    marks, totals = entries | "ChooseKept" >> ChooseKept(grouping, by_rank, bool(outside))
    decide = functools.partial(_decide, outside)
    decided = {"documents": documents, "marks": marks} | "Join" >> JoinMarks(decide, grouping)
    return decided, totals


def _decide(outside: str, document: Document, marks: np.ndarray, again: bool) -> Decision:
    if not len(marks):
        return Keep(document, metadata={"cluster": document.id, "cluster_size": 1})
    mark = marks[marks["code"].argmax()]
    first = id_of(mark["first_high"], mark["first_low"])
    if mark["code"] == OUTSIDE:
        return Drop(outside, first)
    # The same document may have been read twice.
    if mark["code"] == DUPLICATE or again:
        return Drop("duplicate", first)
    return Keep(document, metadata={"cluster": first, "cluster_size": int(mark["size"])})
