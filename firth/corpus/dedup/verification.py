"""Verification of pairs of documents by the Jaccard similarity of their word n-grams, on Beam."""

import dataclasses
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import CorpusCounts, Count
from firth.corpus.documents.steps import Setting
from firth.corpus.grouping.tables import Group, Tables, distinct, merge_tables, part_table, table_of
from firth.corpus.grouping.values import GroupValues, each_of

# A share for the set itself, next to its numbers.
_SET_BYTES = 2**7


@dataclasses.dataclass(frozen=True, eq=False)
class ShingleSet:
    """The word n-grams of a document.

    Attributes:
        node: The number of the document in the graph of pairs.
        hashes: uint64 [n-grams], ascending, each once.
    """

    node: int
    hashes: np.ndarray

    @property
    def held_bytes(self) -> int:
        """An estimate of the memory that the set takes, in bytes."""
        return self.hashes.nbytes + _SET_BYTES


def shingle_sets(nodes: np.ndarray, shingles: np.ndarray, splits: np.ndarray) -> list[ShingleSet]:
    """Returns the sets of some documents, without those that have no n-gram.

    Args:
        nodes: uint64 [documents], the numbers of the documents.
        shingles: uint64 [n-grams], the hashes of all their n-grams.
        splits: int64 [documents + 1], the index of each document's first n-gram.
    """
    return [
        ShingleSet(node, np.unique(shingles[start:end]))
        for node, start, end in zip(nodes.tolist(), splits[:-1].tolist(), splits[1:].tolist())
        if end > start
    ]


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    """Returns the size of the intersection of two sets, divided by that of their union.

    Example:

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4, 5]))
    0.4
    """
    small, large = sorted((one, other), key=len)
    places = np.minimum(np.searchsorted(large, small), len(large) - 1)
    shared = int((large[places] == small).sum())
    return shared / (len(one) + len(other) - shared)


_NO_PAIRS = table_of(node=np.zeros(0, np.uint64), label=np.zeros(0, np.uint64))


@beam.ptransform_fn
def VerifyPairs(
    parts: Mapping[str, Any], min_jaccard: float, setting: Setting
) -> tuple[Tables, PCollection[CorpusCounts]]:
    """Keeps the pairs of documents that are similar: `pairs` and `sets` to (links, counts).

    A set goes to each group that has the other side of one of its pairs, once. A worker holds the pairs of
    one group, and the sets of those documents of the group that are the smaller side of a pair; the others
    pass it one batch at a time. The counts are of the different pairs, compared and refused.
    """
    grouping, name = setting.grouping, setting.name
    placed = [
        sets | f"PartSets[{i}]" >> beam.FlatMap(_part_sets, grouping.groups).with_output_types(Unmeasured)
        for i, sets in enumerate(each_of(parts["sets"]))
    ]
    placed += [
        parts["pairs"] | f"PartBy[{key}]" >> _part(key, f"by_{key}", grouping.groups)
        for key in ("node", "label")
    ]
    sent = (
        tuple(placed)
        | "GroupBySet" >> GroupValues(grouping)
        | "Send" >> beam.FlatMap(_send, grouping.groups).with_output_types(Unmeasured)
    )
    verify = beam.FlatMap(_verify, min_jaccard, name).with_outputs("totals", main="links")
    outputs = sent | "GroupByPair" >> GroupValues(grouping) | "Verify" >> verify
    return outputs.links, outputs.totals


def _part(key: str, name: str, groups: int) -> beam.PTransform:
    return beam.FlatMap(part_table, name, key, groups).with_output_types(Unmeasured)


def _part_sets(sets: list[ShingleSet], groups: int) -> Iterator[Any]:
    yield from _by_group("sets", [(each.node % groups, each) for each in sets]) or [(0, ("sets", []))]


def _by_group(name: str, placed: Iterable[tuple[int, ShingleSet]]) -> list[Any]:
    groups = group_by_key(placed, operator.itemgetter(0))
    return [(group, (name, [each for _, each in members])) for group, members in groups.items()]


def _send(element: Group, groups: int) -> Iterator[Any]:
    """Yields the sets and the pairs of a group for the groups in which they are compared."""
    group, values = element
    pairs = _joined(values.of("by_node"))
    labels = np.unique(_joined(values.of("by_label"))["label"])
    yield from part_table(pairs, "pairs", "label", groups)
    targets = distinct(table_of(node=pairs["node"], group=pairs["label"] % np.uint64(groups)))
    for sets in values.of("sets"):
        nodes = np.array([each.node for each in sets], np.uint64)
        starts, ends = (np.searchsorted(targets["node"], nodes, side) for side in ("left", "right"))
        yield from _by_group(
            "larger",
            [
                (target, each)
                for each, start, end in zip(sets, starts, ends)
                for target in targets["group"][start:end].tolist()
            ],
        )
        smaller = [each for each, held in zip(sets, np.isin(nodes, labels)) if held]
        if smaller:
            yield group, ("smaller", smaller)


def _joined(tables: Iterable[np.ndarray]) -> np.ndarray:
    """Returns the different pairs of all tables."""
    return merge_tables(tables, _NO_PAIRS, distinct)


def _verify(element: Group, min_jaccard: float, step: str) -> Iterator[Any]:
    values = element[1]
    pairs = _joined(values.of("pairs"))
    smaller = {each.node: each.hashes for sets in values.of("smaller") for each in sets}
    compared: set[int] = set()
    links: list[tuple[int, int]] = []
    for sets in values.of("larger"):
        for each in sets:
            # A document that was read twice has its set twice.
            if each.node in compared:
                continue
            compared.add(each.node)
            # As floats, which NumPy makes of a mixture of types, nodes would lose digits.
            node = np.uint64(each.node)
            start, end = (np.searchsorted(pairs["node"], node, side) for side in ("left", "right"))
            for label in pairs["label"][start:end].tolist():
                if jaccard(each.hashes, smaller[label]) >= min_jaccard:
                    links.append((each.node, label))
    yield np.array(links, _NO_PAIRS.dtype)
    totals = CorpusCounts()
    totals.counts[Count(step, "", "pairs_compared")] += len(pairs)
    totals.counts[Count(step, "", "pairs_refused")] += len(pairs) - len(links)
    yield TaggedOutput("totals", totals)
