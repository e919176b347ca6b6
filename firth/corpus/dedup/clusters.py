"""Clusters of documents that are similar according to MinHash, directly or through others."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.dedup.candidates import CandidatePairs
from firth.corpus.dedup.connected_components import ConnectedComponents, LinkMembers, check_settled
from firth.corpus.dedup.kept_copies import decide_copies
from firth.corpus.dedup.minhash import MinHash
from firth.corpus.dedup.shingle_sets import ShingleSet, shingle_sets
from firth.corpus.dedup.verification import VerifyPairs
from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import Setting
from firth.corpus.grouping.identity import id_halves, longest_first, nodes_of, source_first
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.grouping.table_groups import Group, GroupTables, Tables
from firth.corpus.grouping.tables import FirstRows, table_of
from firth.recipes.corpus.duplicates import MinHashing, Verification


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
        order: The document that is kept in a cluster: of "longest_first" and "source_first", see
            `firth.corpus.grouping.identity`; "outside" marks documents that are not of the corpus, which come
            before all others.
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
    """Returns the decisions about documents of which similar ones go, and the counts of buckets and clusters."""
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
