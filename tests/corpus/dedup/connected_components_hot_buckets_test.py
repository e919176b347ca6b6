"""A bucket that a large part of the corpus shares: boilerplate, an error page, an empty template."""

import json
import pathlib
import tracemalloc

import apache_beam as beam
import numpy as np

from firth.corpus.dedup.connected_components import LinkMembers
from firth.corpus.documents.corpus_counts import BUCKET_HISTOGRAM, merge_counts
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping import values as grouping
from firth.corpus.grouping.tables import table_of
from tests.corpus.helpers import make_pipeline

HOT, SMALL = 2**21, 2**10
PARTS = 32


def members(part: int) -> np.ndarray:
    """A part of the members: most are of bucket 7, the others of buckets of two, each in another part."""
    nodes = np.arange(part, HOT, PARTS, np.uint64) + np.uint64(1000)
    buckets = np.full_like(nodes, 7)
    pairs = np.arange(SMALL // PARTS, dtype=np.uint64) + np.uint64(100 + part // 2 * SMALL)
    extra = table_of(bucket=pairs, node=pairs * np.uint64(10**6) + np.uint64(part % 2))
    return np.concatenate([table_of(bucket=buckets, node=nodes), extra])


def test_a_bucket_of_millions_costs_a_link_a_member_and_no_memory_for_them(tmp_path, monkeypatch):
    monkeypatch.setattr(grouping, "FILE_BYTES", 2**19)
    found = tmp_path / "found.json"
    tracemalloc.start()
    with make_pipeline() as pipeline:
        tables = pipeline | beam.Create(range(PARTS)) | beam.Map(members)
        links, totals = tables | LinkMembers(Grouping(3, str(tmp_path)))
        counts = links | beam.Map(count_links) | beam.CombineGlobally(total)
        merged = totals | "Merge" >> beam.CombineGlobally(merge_counts)
        _ = counts | beam.Map(write, beam.pvalue.AsSingleton(merged), str(found))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    hot, to_smallest, others = json.loads(found.read_text())["links"]
    assert (hot, to_smallest, others) == (HOT - 1, HOT - 1, SMALL // 2)
    assert json.loads(found.read_text())["buckets"] == {"2": SMALL // 2, str(HOT): 1}
    assert peak < HOT * members(0).itemsize / 2


def count_links(links: np.ndarray) -> np.ndarray:
    of_hot = links["node"] < 10**7
    return np.array([of_hot.sum(), (links["label"][of_hot] == 1000).sum(), (~of_hot).sum()])


def total(counts) -> np.ndarray:
    return sum(counts, np.zeros(3, int))


def write(counts, totals, path: str) -> None:
    buckets = {size: count for (name, size), count in totals.histograms.items() if name == BUCKET_HISTOGRAM}
    pathlib.Path(path).write_text(json.dumps({"links": counts.tolist(), "buckets": buckets}))
