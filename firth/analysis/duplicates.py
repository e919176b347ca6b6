"""Sums over clusters of duplicates and the buckets that they were found in."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from firth.corpus.documents.batching import by_key


@dataclasses.dataclass(frozen=True)
class ClusterBin:
    """Clusters of duplicates of about one size.

    Attributes:
        step: Name of the step.
        smallest: Documents of the smallest clusters in the bin.
        largest: Documents of the largest clusters in the bin.
        clusters: Number of clusters.
        documents: Number of documents in these clusters.
    """

    step: str
    smallest: int
    largest: int
    clusters: int
    documents: int


@dataclasses.dataclass(frozen=True)
class BucketSum:
    """The MinHash buckets of one step that several documents share.

    Attributes:
        step: Name of the step.
        buckets: Number of buckets.
        largest: Number of documents in the largest one.
        links: Most links that were made of all buckets.
        pairs: Number of pairs that a comparison of each two documents would have taken.
    """

    step: str
    buckets: int
    largest: int
    links: int
    pairs: int


def cluster_bins(rows: Iterable[Mapping[str, Any]]) -> list[ClusterBin]:
    """Returns the clusters by step and size, from a power of two up to the next.

    Example:

    >>> rows = [{"step": "near", "size": 3, "clusters": 2}, {"step": "near", "size": 4, "clusters": 1}]
    >>> cluster_bins(rows)
    [ClusterBin(step='near', smallest=3, largest=4, clusters=3, documents=10)]
    """
    bins = by_key(rows, lambda row: (row["step"], (row["size"] - 1).bit_length()))
    return [
        ClusterBin(
            step,
            smallest=2**power // 2 + 1,
            largest=2**power,
            clusters=sum(row["clusters"] for row in members),
            documents=sum(row["size"] * row["clusters"] for row in members),
        )
        for (step, power), members in bins.items()
    ]


def bucket_sums(rows: Iterable[Mapping[str, Any]]) -> list[BucketSum]:
    """Returns the buckets of each step in one line.

    Example:

    >>> bucket_sums([{"step": "near", "size": 2, "buckets": 3}, {"step": "near", "size": 1000, "buckets": 1}])
    [BucketSum(step='near', buckets=4, largest=1000, links=1002, pairs=499503)]
    """
    steps = by_key(rows, lambda row: row["step"])
    return [_bucket_sum(step, members) for step, members in steps.items()]


def _bucket_sum(step: str, rows: Iterable[Mapping[str, Any]]) -> BucketSum:
    members = [(row["size"], row["buckets"]) for row in rows]
    return BucketSum(
        step,
        buckets=sum(n for _, n in members),
        largest=max(size for size, _ in members),
        links=sum(n * (size - 1) for size, n in members),
        pairs=sum(n * size * (size - 1) // 2 for size, n in members),
    )
