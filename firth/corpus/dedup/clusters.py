"""Clusters of documents that are similar according to MinHash, directly or through others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.dedup.connected_components import (
    ConnectedComponents,
    LinkMembers,
    bucket_sizes,
    check_settled,
)
from firth.corpus.dedup.exact_duplicates import decide_copies
from firth.corpus.dedup.verification import ShingleSet, VerifyPairs, shingle_sets
from firth.corpus.documents.corpus_counts import CorpusCounts, Count
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.grouping.tables import (
    FirstRows,
    Group,
    GroupTables,
    Tables,
    distinct,
    gather,
    id_halves,
    longest_first,
    nodes_of,
    source_first,
    table_of,
)
from firth.corpus.text.comparable_text import comparable_words
from firth.corpus.text.shingles import mix, shingle_hashes, word_hashes
from firth.recipes.corpus.duplicates import MinHashing, Verification

# This many hashes and their products fit the cache of a processor core.
_BLOCK = 2**15


class Described(NamedTuple):
    """The input of `Cluster`.

    Attributes:
        entries: Tables with one row for each document: `node`, `order`, `id_high`, `id_low`.
        members: Tables with one row for each document and bucket of MinHash: `bucket`, `node`.
        sets: Lists of the documents' `ShingleSet`s; of empty ones where nothing is verified.
    """

    entries: Tables
    members: Tables
    sets: PCollection[list[ShingleSet]]


@beam.ptransform_fn
def Describe(
    documents: PCollection[list[Document]], config: MinHashing, order: str, ranks: Mapping[str, int]
) -> Described:
    """Describes documents by their MinHash buckets, as input of `Cluster`: lists of documents to `Described`.

    Args:
        order: Rule by which one document of a cluster is kept: "longest_first" or "source_first" of
            `firth.corpus.grouping.tables`; "outside" for documents that are not part of the corpus, which
            come before all others.
    """
    describe = beam.FlatMap(_describe, config, order, ranks)
    outputs = documents | describe.with_outputs("members", "sets", main="entries")
    return Described(outputs.entries, outputs.members, outputs.sets)


def _describe(
    documents: list[Document], config: MinHashing, order: str, ranks: Mapping[str, int]
) -> Iterator[Any]:
    high, low = id_halves(documents)
    # A document outside may have the id of another text of the corpus.
    nodes = nodes_of(high, low) if order != "outside" else nodes_of(low, ~high)
    yield table_of(node=nodes, order=_orders(documents, order, ranks), id_high=high, id_low=low)
    minhash = MinHash(config.ngram_words, config.buckets, config.hashes_per_bucket, config.seed)
    shingles, splits = minhash.shingles([document.text for document in documents])
    places, buckets = minhash.buckets_of(shingles, splits)
    members = table_of(bucket=buckets.ravel(), node=np.repeat(nodes[places], buckets.shape[1]))
    yield TaggedOutput("members", members)
    if config.verification:
        yield TaggedOutput("sets", shingle_sets(nodes, shingles, splits))


def _orders(documents: list[Document], order: str, ranks: Mapping[str, int]) -> np.ndarray:
    if order == "longest_first":
        return longest_first(documents, ranks)
    if order == "source_first":
        return source_first(documents, ranks) + np.uint64(1)
    return np.zeros(len(documents), np.uint64)


@beam.ptransform_fn
def Cluster(
    described: Described, config: MinHashing, setting: Setting
) -> tuple[Tables, PCollection[CorpusCounts]]:
    """Labels documents by their cluster: `Described` to (tables of entries, counts of bucket sizes).

    The entries are input of `ChooseKept`.

    Raises:
        UnsettledClustersError: on a worker, if the rounds were too few.
    """
    grouping, rounds = setting.grouping, config.rounds
    links, totals = _links(described, config.verification, setting)
    links = links | "Components" >> ConnectedComponents(rounds, grouping)
    centres = links | "Centres" >> beam.Map(_centres)
    entries = (
        {"entries": described.entries, "links": links, "centres": centres}
        | "ByNode" >> GroupTables({"entries": "node", "links": "node", "centres": "node"}, grouping)
        | "Label" >> beam.FlatMap(_label, rounds, setting.name)
    )
    return entries, totals


def _links(
    described: Described, verification: Verification | None, setting: Setting
) -> tuple[Tables, PCollection[CorpusCounts]]:
    if verification is None:
        links, totals = described.members | "Members" >> LinkMembers(setting.grouping)
        return links, totals
    candidates = CandidatePairs(verification.max_compared, setting)
    pairs, buckets = described.members | "Candidates" >> candidates
    verify = VerifyPairs(verification.min_jaccard, setting)
    links, verified = {"pairs": pairs, "sets": described.sets} | "Verify" >> verify
    return links, (buckets, verified) | "PairCounts" >> beam.Flatten()


def decide_similar(
    documents: Documents,
    described: Described,
    config: MinHashing,
    setting: Setting,
    by_rank: bool = False,
    outside: str = "",
) -> Decisions:
    """Returns the decisions about similar documents, and the counts of buckets and clusters."""
    entries, buckets = described | "Cluster" >> Cluster(config, setting)
    decided, clusters = decide_copies(documents, entries, setting.grouping, by_rank, outside)
    return decided, (buckets, clusters) | "CorpusCounts" >> beam.Flatten()


def _centres(links: np.ndarray) -> np.ndarray:
    return table_of(node=np.unique(links["label"]))


def _label(element: Group, rounds: int, step: str) -> Iterator[np.ndarray]:
    group = element[1]
    labels = FirstRows(group.of("links"), "node", ["label"])
    check_settled(labels, group.of("links"), group.of("centres"), rounds, step)
    for entries in group.of("entries"):
        label = entries["node"].copy()
        is_linked = np.isin(label, labels.rows["node"])
        label[is_linked] = labels.of(label[is_linked])[0]["label"]
        columns = {name: entries[name] for name in ("order", "id_high", "id_low")}
        yield table_of(label=label, check=np.zeros_like(label), **columns)


class MinHash:
    """Puts documents into buckets: two of Jaccard similarity s share one with probability 1 - (1 - s^h)^b.

    The similarity is that of the documents' sets of word n-grams. Words are those of `comparable_words`; a
    document with fewer words than an n-gram is one n-gram. Each of the b x h permutations multiplies the
    64-bit hashes of the n-grams by an odd number. The smallest product is the document's MinHash for the
    permutation, and h of them together are a bucket (Broder 1997, "On the resemblance and containment of
    documents"; Indyk and Motwani 1998, "Approximate nearest neighbors", section 4).

    Example:

    >>> places, buckets = MinHash().buckets(["It was the best of times.", "it was THE best of times", "..."])
    >>> places.tolist(), bool((buckets[0] == buckets[1]).all())
    ([0, 1], True)
    """

    def __init__(self, ngram_words: int = 5, buckets: int = 14, hashes: int = 8, seed: int = 0) -> None:
        self._ngram_words = ngram_words
        self._shape = (buckets, hashes)
        numbers = np.arange(1, buckets * hashes + 1, dtype=np.uint64) + np.uint64(seed) * np.uint64(2**32)
        self._factors = mix(numbers) | np.uint64(1)

    def buckets(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the buckets of each text that has at least one word.

        Returns:
            int64 [n], the indices of these texts, and uint64 [n, buckets], their buckets.
        """
        return self.buckets_of(*self.shingles(texts))

    def shingles(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the hashes of all n-grams of each text.

        Returns:
            uint64 [n-grams], and int64 [texts + 1], the index of each text's first n-gram.
        """
        words, splits = word_hashes([comparable_words(text) for text in texts])
        return shingle_hashes(words, splits, self._ngram_words, short=True)

    def buckets_of(self, shingles: np.ndarray, splits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the buckets of each text that has at least one n-gram, as `buckets` does."""
        places = np.flatnonzero(np.diff(splits))
        smallest = self._smallest(shingles, splits[:-1][places])
        return places, self._join(smallest)

    def _smallest(self, shingles: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Returns uint64 [documents, permutations], a document's smallest product."""
        smallest = np.empty((len(self._factors), len(starts)), np.uint64)
        ends = np.append(starts[1:], len(shingles))
        first = 0
        while first < len(starts):
            last = max(first + 1, int(np.searchsorted(ends, starts[first] + _BLOCK, "right")))
            block = shingles[starts[first] : ends[last - 1]]
            offsets = starts[first:last] - starts[first]
            product = np.empty_like(block)
            for row, factor in zip(smallest, self._factors):
                np.multiply(block, factor, out=product)
                np.minimum.reduceat(product, offsets, out=row[first:last])
            first = last
        return smallest.T

    def _join(self, smallest: np.ndarray) -> np.ndarray:
        buckets, hashes = self._shape
        parts = smallest.reshape(-1, buckets, hashes)
        joined = np.broadcast_to(np.arange(buckets, dtype=np.uint64), parts.shape[:2])
        for i in range(hashes):
            joined = mix(joined * np.uint64(0x9FB21C651E98DF25) + parts[:, :, i])
        return joined


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
    # The first m of n members are paired among themselves, and each later one with these.
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
        for gathered in gather(tables, lambda: len(self._rows)):
            self._fold(gathered)
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
