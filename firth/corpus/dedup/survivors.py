"""Of documents of one label, which survive."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput

from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Decision, Drop, Grouping, Keep
from firth.corpus.documents.tally import Tally
from firth.corpus.grouping.table_groups import Group, GroupTables
from firth.corpus.grouping.tables import FirstRows, table_of
from firth.corpus.report.corpus_report import CLUSTER_HISTOGRAM

# The verdicts: of several documents of this id one stays; it goes for another; it goes for evaluation data.
ONE_STAYS, DUPLICATE, IN_BENCHMARK = range(3)
ORDER = ("order", "id_high", "id_low")


class Survivors(beam.PTransform):
    """Finds what is to be dropped: tables of entries to (tables of verdicts, tallies of cluster sizes).

    An entry is a document by its `label`, which a cluster has in common; `check`, without which a label is
    not the same; `order`, `id_high` and `id_low`, by which the cluster's smallest survives. A verdict has
    `id_high`, `id_low` and `code`.

    Args:
        grouping: How to bring entries together.
        by_rank: Whether those survive too whose `order` is the survivor's, and order 0 is that of evaluation
            data.
    """

    def __init__(self, grouping: Grouping, by_rank: bool = False) -> None:
        super().__init__()
        self._grouping = grouping
        self._by_rank = by_rank

    def expand(self, entries):  # noqa: D102
        outputs = (
            {"entries": entries}
            | GroupTables({"entries": "label"}, self._grouping)
            | "Choose" >> beam.ParDo(_Choose(self._by_rank)).with_outputs("tally", main="verdicts")
        )
        return outputs.verdicts, outputs.tally


class _Choose(beam.DoFn):
    def __init__(self, by_rank: bool) -> None:
        self._by_rank = by_rank

    def process(self, element: Group) -> Iterator[Any]:
        group = element[1]
        first = FirstRows(group.of("entries"), "label", ORDER)
        labels, survivors = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        for entries in group.of("entries"):
            best, _ = first.of(entries["label"])
            is_best = np.logical_and.reduce([entries[field] == best[field] for field in ORDER])
            survivors.append(entries["label"][is_best])
            goes = (entries["check"] == best["check"]) & ~is_best
            if self._by_rank:
                goes &= entries["order"] != best["order"]
            labels.append(entries["label"][goes])
            code = np.where(self._by_rank & (best["order"] == 0), IN_BENCHMARK, DUPLICATE)
            yield _verdicts(entries[goes], code[goes])
        again, counts = np.unique(np.concatenate(survivors), return_counts=True)
        again = again[counts > 1]
        labels.append(again)
        if len(again):
            yield _verdicts(first.of(again)[0], np.full(len(again), ONE_STAYS))
        yield TaggedOutput("tally", _cluster_sizes(first, np.concatenate(labels)))


def _verdicts(entries: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return table_of(id_high=entries["id_high"], id_low=entries["id_low"], code=codes.astype(np.uint8))


def _cluster_sizes(first: FirstRows, labels: np.ndarray) -> Tally:
    tally = Tally()
    if len(labels):
        _, counts = first.of(np.unique(labels))
        tally.histograms.update((CLUSTER_HISTOGRAM, count) for count in counts.tolist())
    return tally


def decide(document: Document, verdicts: np.ndarray, again: bool) -> Decision:
    """Returns the decision that the verdicts on a document amount to; see `JoinVerdicts`."""
    code = int(verdicts["code"].max()) if len(verdicts) else ONE_STAYS
    if code == IN_BENCHMARK:
        return Drop("in_benchmark")
    return Drop("duplicate") if code == DUPLICATE or again else Keep(document)
