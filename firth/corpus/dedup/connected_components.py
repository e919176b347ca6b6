"""Connected components of a graph of documents, in Beam."""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput

from firth.corpus.dedup.forests import find_forest
from firth.corpus.documents.errors import UnsettledClustersError
from firth.corpus.documents.steps import Grouping
from firth.corpus.documents.tally import Tally
from firth.corpus.grouping.table_groups import Group, GroupTables
from firth.corpus.grouping.tables import FirstRows, distinct, table_of
from firth.corpus.grouping.values import Values
from firth.corpus.report.corpus_report import BUCKET_HISTOGRAM

# The links of so many groups are few enough for one: most documents have none.
GROUPS_AT_ONCE = 64


class LinkMembers(beam.PTransform):
    """Links the members of each bucket: tables of `bucket`, `node` to (tables of `node`, `label`, tallies).

    Each member is linked to the bucket's smallest: n members cost n - 1 links, not n(n - 1) / 2, and none is
    left out, however many those are. A worker holds the smallest of each bucket, no list of members, which it
    reads by parts of a file. The tallies count the buckets of several members by how many they have.
    """

    def __init__(self, grouping: Grouping) -> None:
        super().__init__()
        self._grouping = grouping

    def expand(self, members):  # noqa: D102
        grouped = {"members": members} | GroupTables({"members": "bucket"}, self._grouping)
        outputs = grouped | "Link" >> beam.FlatMap(_link).with_outputs("tally", main="links")
        return outputs.links, outputs.tally


def _link(element: Group) -> Iterator[Any]:
    group = element[1]
    smallest = FirstRows(group.of("members"), "bucket", ["node"])
    for members in group.of("members"):
        first, _ = smallest.of(members["bucket"])
        yield _links(members["node"], first["node"])
    yield TaggedOutput("tally", _bucket_sizes(smallest.counts))


def _bucket_sizes(counts: np.ndarray) -> Tally:
    tally = Tally()
    sizes, buckets = np.unique(counts[counts > 1], return_counts=True)
    names = [(BUCKET_HISTOGRAM, size) for size in sizes.tolist()]
    tally.histograms.update(dict(zip(names, buckets.tolist(), strict=True)))
    return tally


def _links(nodes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    links = table_of(node=nodes, label=labels)
    return distinct(links[links["node"] != links["label"]])


class ConnectedComponents(beam.PTransform):
    """Links every node to the smallest of its component: tables of `node`, `label` to the same.

    Where the links fit one worker, it finds their forest. Where not, large-star and small-star in turn
    (Kiveris et al. 2014, sections 3.1 to 3.3), a fixed number of times. A round halves a chain of links, so
    that `rounds` are enough for chains of 2**(rounds - 1) nodes, as a test counts. Whether they were enough
    is for `check_settled` to say. A worker holds one row a node; nothing passes through the driver.

    Args:
        rounds: Of one large-star and one small-star.
        grouping: How to bring links together; up to `GROUPS_AT_ONCE` groups fit one worker.
    """

    def __init__(self, rounds: int, grouping: Grouping) -> None:
        super().__init__()
        self._rounds = rounds
        self._grouping = grouping._replace(groups=-(-grouping.groups // GROUPS_AT_ONCE))

    def expand(self, links):  # noqa: D102
        if self._grouping.groups == 1:
            grouped = {"links": links} | "Links" >> GroupTables({"links": "node"}, self._grouping)
            return grouped | "Forest" >> beam.Map(lambda element: find_forest(element[1].of("links")))
        links = links | "BothWays" >> beam.Map(both_ways)
        for i in range(1, self._rounds + 1):
            turn = both_ways if i < self._rounds else downwards
            links = (
                {"links": links}
                | f"LargeStar[{i}]" >> GroupTables({"links": "node"}, self._grouping)
                | f"LinkLarger[{i}]" >> beam.FlatMap(_link_again, large_star, downwards)
            )
            links = (
                {"links": links}
                | f"SmallStar[{i}]" >> GroupTables({"links": "node"}, self._grouping)
                | f"LinkSmaller[{i}]" >> beam.FlatMap(_link_again, small_star, turn)
            )
        return links


def _link_again(group: Group, star, turn) -> Iterator[np.ndarray]:
    for links in star(group[1]):
        yield turn(links)


def both_ways(links: np.ndarray) -> np.ndarray:
    """Returns each link from either of its ends."""
    backward = table_of(node=links["label"], label=links["node"])
    return np.concatenate([links, backward])


def downwards(links: np.ndarray) -> np.ndarray:
    """Returns each link from the larger of its ends."""
    ends = links["node"], links["label"]
    return table_of(node=np.maximum(*ends), label=np.minimum(*ends))


def large_star(group: Values) -> Iterator[np.ndarray]:
    """Yields links of each node's larger neighbours to the smallest of the node and its neighbours.

    Args:
        group: A table `links` of `node`, `label`: each link from both of its ends.
    """
    smallest = FirstRows(group.of("links"), "node", ["label"])
    for links in group.of("links"):
        larger = links[links["label"] > links["node"]]
        first, _ = smallest.of(larger["node"])
        yield _links(larger["label"], np.minimum(first["label"], larger["node"]))


def small_star(group: Values) -> Iterator[np.ndarray]:
    """Yields links of each node, and of its smaller neighbours, to the smallest of these.

    Args:
        group: A table `links` of `node`, `label`: each link from the larger of its ends.
    """
    smallest = FirstRows(group.of("links"), "node", ["label"])
    yield _links(smallest.rows["node"], smallest.rows["label"])
    for links in group.of("links"):
        first, _ = smallest.of(links["node"])
        yield _links(links["label"], first["label"])


def check_settled(
    labels: FirstRows, links: Iterable[np.ndarray], centres: Iterable[np.ndarray], rounds: int, step: str
) -> None:
    """Checks that nodes have one label, and that no label has another.

    Args:
        labels: Of each node the smallest label.
        links: The nodes' links, tables of `node`, `label`.
        centres: Tables of `node`, that are labels and would be among the nodes if they had one.
        rounds: That led to the links.
        step: Its name in the report.

    Raises:
        UnsettledClustersError: naming the setting.
    """
    others = sum(int((labels.of(each["node"])[0]["label"] != each["label"]).sum()) for each in links)
    others += sum(int(np.isin(each["node"], labels.rows["node"]).sum()) for each in centres)
    if others:
        raise UnsettledClustersError(
            f"step {step!r}: after {rounds} rounds at least {others} documents are not yet linked to the "
            f"smallest of their cluster; raise its `rounds` (a chain twice as long takes one more)"
        )
