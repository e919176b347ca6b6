"""Connected components of a graph of documents, on Beam."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from firth.corpus.documents.corpus_counts import BUCKET_HISTOGRAM, CorpusCounts
from firth.corpus.documents.errors import UnsettledClustersError
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.tables import (
    FirstRows,
    Group,
    GroupTables,
    Tables,
    distinct,
    merge_tables,
    table_of,
)
from firth.corpus.grouping.values import Values

# The links of this many groups together fit one worker, since most documents have no links.
GROUPS_AT_ONCE = 64


@beam.ptransform_fn
def LinkMembers(members: Tables, grouping: Grouping) -> tuple[Tables, PCollection[CorpusCounts]]:
    """Links the members of each bucket: tables of `bucket`, `node` to (tables of `node`, `label`, counts).

    Each member is linked to the smallest node of its bucket. n members have n - 1 links instead of n(n - 1) /
    2, and no bucket is too large. A worker holds the smallest node of each bucket, but no list of members,
    which it reads in parts from a file. The counts are of the buckets with several members by the number of
    members.
    """
    grouped = {"members": members} | GroupTables({"members": "bucket"}, grouping)
    outputs = grouped | "Link" >> beam.FlatMap(_link).with_outputs("totals", main="links")
    return outputs.links, outputs.totals


def _link(element: Group) -> Iterator[Any]:
    group = element[1]
    smallest = FirstRows(group.of("members"), "bucket", ["node"])
    for members in group.of("members"):
        first, _ = smallest.of(members["bucket"])
        yield _links(members["node"], first["node"])
    yield TaggedOutput("totals", bucket_sizes(smallest.counts))


def bucket_sizes(counts: np.ndarray) -> CorpusCounts:
    """Returns the number of buckets with several members by the number of members, as counts.

    Args:
        counts: int64 [buckets], the number of members of each bucket.
    """
    totals = CorpusCounts()
    sizes, buckets = np.unique(counts[counts > 1], return_counts=True)
    names = [(BUCKET_HISTOGRAM, size) for size in sizes.tolist()]
    totals.histograms.update(dict(zip(names, buckets.tolist(), strict=True)))
    return totals


def _links(nodes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    links = table_of(node=nodes, label=labels)
    return distinct(links[links["node"] != links["label"]])


@beam.ptransform_fn
def ConnectedComponents(links: Tables, rounds: int, grouping: Grouping) -> Tables:
    """Links every node to the smallest node of its component: tables of `node`, `label` to such tables.

    If the links fit one worker, it finds their forest. Otherwise large-star and small-star alternate a fixed
    number of times (Kiveris et al. 2014, "Connected components in MapReduce and beyond", sections 3.1 to
    3.3). A round halves a chain of links, so that `rounds` rounds are enough for chains of 2**(rounds - 1)
    nodes. Whether they were enough is checked by `check_settled`. A worker holds one row for each node, and
    the process that builds the pipeline holds no rows.
    """
    grouping = grouping._replace(groups=-(-grouping.groups // GROUPS_AT_ONCE))
    if grouping.groups == 1:
        grouped = {"links": links} | "Links" >> GroupTables({"links": "node"}, grouping)
        return grouped | "Forest" >> beam.Map(lambda element: find_forest(element[1].of("links")))
    links = links | "BothWays" >> beam.Map(both_ways)
    for i in range(1, rounds + 1):
        turn = both_ways if i < rounds else downwards
        for name, star, after in (("Large", large_star, downwards), ("Small", small_star, turn)):
            links = (
                {"links": links}
                | f"{name}Star[{i}]" >> GroupTables({"links": "node"}, grouping)
                | f"Link{name}[{i}]" >> beam.FlatMap(_link_again, star, after)
            )
    return links


def _link_again(
    group: Group,
    star: Callable[[Values], Iterator[np.ndarray]],
    turn: Callable[[np.ndarray], np.ndarray],
) -> Iterator[np.ndarray]:
    for links in star(group[1]):
        yield turn(links)


def both_ways(links: np.ndarray) -> np.ndarray:
    """Returns each link in both directions."""
    backward = table_of(node=links["label"], label=links["node"])
    return np.concatenate([links, backward])


def downwards(links: np.ndarray) -> np.ndarray:
    """Returns each link in the direction from its larger to its smaller end."""
    ends = links["node"], links["label"]
    return table_of(node=np.maximum(*ends), label=np.minimum(*ends))


def large_star(group: Values) -> Iterator[np.ndarray]:
    """Yields links from the larger neighbours of each node to the smallest of the node and its neighbours."""
    smallest = FirstRows(group.of("links"), "node", ["label"])
    for links in group.of("links"):
        larger = links[links["label"] > links["node"]]
        first, _ = smallest.of(larger["node"])
        yield _links(larger["label"], np.minimum(first["label"], larger["node"]))


def small_star(group: Values) -> Iterator[np.ndarray]:
    """Yields links from each node and its smaller neighbours to the smallest of these."""
    smallest = FirstRows(group.of("links"), "node", ["label"])
    yield _links(smallest.rows["node"], smallest.rows["label"])
    for links in group.of("links"):
        first, _ = smallest.of(links["node"])
        yield _links(links["label"], first["label"])


def check_settled(
    labels: FirstRows, links: Iterable[np.ndarray], centres: Iterable[np.ndarray], rounds: int, step: str
) -> None:
    """Checks that each node has only one label, and that no label has another label."""
    others = sum(int((labels.of(each["node"])[0]["label"] != each["label"]).sum()) for each in links)
    others += sum(int(np.isin(each["node"], labels.rows["node"]).sum()) for each in centres)
    if others:
        raise UnsettledClustersError(
            f"step {step!r}: after {rounds} rounds at least {others} documents are not yet linked to the "
            f"smallest of their cluster; raise its `rounds` (a chain twice as long takes one more)"
        )


def find_forest(tables: Iterable[np.ndarray]) -> np.ndarray:
    """Returns a link from each node to the smallest node of its component, which itself has no link.

    Example:

    >>> links = table_of(node=np.array([5, 9], np.uint64), label=np.array([3, 5], np.uint64))
    >>> find_forest([links]).tolist()
    [(5, 3), (9, 3)]
    """
    return merge_tables(tables, np.zeros(0, [("node", np.uint64), ("label", np.uint64)]), _join)


def _join(links: np.ndarray) -> np.ndarray:
    nodes, places = np.unique(np.concatenate([links["node"], links["label"]]), return_inverse=True)
    ends = tuple(places.reshape(2, -1))
    adjacency = sparse.coo_array((np.ones(len(links), np.int8), ends), shape=(len(nodes), len(nodes)))
    _, components = connected_components(adjacency, directed=False)
    # Nodes are sorted, so that the first of a component is its smallest.
    _, smallest = np.unique(components, return_index=True)
    labels = nodes[smallest[components]]
    is_linked = labels != nodes
    return table_of(node=nodes[is_linked], label=labels[is_linked])
