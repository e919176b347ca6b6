"""Pairs of documents that share a bucket of MinHash, of which each is still to be compared."""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.dedup.connected_components import bucket_sizes
from firth.corpus.documents.corpus_counts import CorpusCounts, Count
from firth.corpus.documents.steps import Setting
from firth.corpus.grouping.table_groups import Group, GroupTables, Tables
from firth.corpus.grouping.tables import FOLD_ROWS, distinct, table_of


@beam.ptransform_fn
def CandidatePairs(
    members: Tables, max_compared: int, setting: Setting
) -> tuple[Tables, PCollection[CorpusCounts]]:
    """Pairs the members of each bucket: tables of `bucket`, `node` to (tables of `node`, `label`, counts).

    In a pair, `label` is the smaller node. Each member is paired with those of the `max_compared` smallest
    nodes of its bucket that are smaller than itself, so that a bucket of n members has at most n times
    `max_compared` pairs. A worker holds that many nodes of each bucket and one table of members. The counts
    are of the buckets by size, of those with more members than `max_compared`, and of the pairs that are left
    out there.
    """
    grouped = {"members": members} | GroupTables({"members": "bucket"}, setting.grouping)
    pair = beam.FlatMap(_pair, max_compared, setting.name)
    outputs = grouped | "Pair" >> pair.with_outputs("totals", main="pairs")
    return outputs.pairs, outputs.totals


def _pair(element: Group, max_compared: int, step: str) -> Iterator[Any]:
    group = element[1]
    smallest = SmallestNodes(group.of("members"), max_compared)
    for members in group.of("members"):
        yield smallest.pairs(members)
    totals = bucket_sizes(smallest.counts)
    large = smallest.counts[smallest.counts > max_compared].astype(object)
    # Of n members, the first m are paired among themselves, and each later one with these.
    left_out = int(sum((large - max_compared) * (large - max_compared - 1) // 2))
    totals.counts[Count(step, "", "buckets_too_large")] += len(large)
    totals.counts[Count(step, "", "pairs_left_out")] += left_out
    yield TaggedOutput("totals", totals)


class SmallestNodes:
    """The smallest nodes of each bucket.

    The memory taken depends on the number of different buckets, not on the number of members.

    Attributes:
        counts: int64 [buckets], the number of members of each bucket, in the order of the buckets.

    Example:

    >>> table = table_of(bucket=np.array([7, 5, 7, 7], np.uint64), node=np.array([2, 9, 1, 3], np.uint64))
    >>> smallest = SmallestNodes([table], 2)
    >>> smallest.pairs(table).tolist(), smallest.counts.tolist()
    ([(2, 1), (3, 1), (3, 2)], [1, 3])
    """

    def __init__(self, tables: Iterable[np.ndarray], most: int) -> None:
        self._most = most
        self._rows = np.zeros(0, [("bucket", np.uint64), ("node", np.uint64)])
        self._buckets, self.counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        waiting: list[np.ndarray] = []
        for table in tables:
            waiting.append(table)
            if sum(map(len, waiting)) >= max(FOLD_ROWS, len(self._rows)):
                self._fold(waiting)
                waiting = []
        if waiting:
            self._fold(waiting)
        self._starts = np.searchsorted(self._rows["bucket"], self._buckets)

    def _fold(self, tables: list[np.ndarray]) -> None:
        new = np.concatenate(tables)
        found, counts = np.unique(new["bucket"], return_counts=True)
        self._buckets, places = np.unique(np.append(self._buckets, found), return_inverse=True)
        self.counts = np.bincount(places, np.append(self.counts, counts)).astype(np.int64)
        # A document that was read twice is one node, of which the second is left out.
        rows = distinct(np.concatenate([self._rows, new]))
        starts = np.searchsorted(rows["bucket"], rows["bucket"])
        self._rows = rows[np.arange(len(rows)) - starts < self._most]

    def pairs(self, members: np.ndarray) -> np.ndarray:
        """Returns the pairs of some members with the smallest nodes: a table of `node`, `label`."""
        places = np.searchsorted(self._buckets, members["bucket"])
        several = self.counts[places] > 1
        nodes, places = members["node"][several], places[several]
        starts, ends = self._starts[places], np.append(self._starts, len(self._rows))[places + 1]
        found = [np.zeros((2, 0), np.uint64)]
        for rank in range(self._most):
            there = starts + rank < ends
            if not there.any():
                break
            labels = self._rows["node"][starts[there] + rank]
            smaller = labels < nodes[there]
            found.append(np.stack([nodes[there][smaller], labels[smaller]]))
        node, label = np.concatenate(found, axis=1)
        return distinct(table_of(node=node, label=label))
