"""The rows of the corpus report, made of the counts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.corpus_counts import (
    DROPPED,
    IN,
    KEPT,
    MEASURED,
    REJECTED,
    CorpusCounts,
    Count,
    Flow,
)
from firth.corpus.documents.split import SPLITS
from firth.corpus.filters.language import identify
from firth.corpus.grouping.repeated_ids import REPEATED_IDS_STEP
from firth.corpus.privacy.excerpts import scrub_example
from firth.corpus.privacy.pii import Pii

# The step under which documents are counted by split (as outcome) and licence (as reason).
SPLIT_STEP = "split"
# The step under which documents are counted by licence (as reason) before cleaning (with the outcome IN).
LICENCE_STEP = "licence"


def sources(totals: CorpusCounts) -> list[str]:
    """Returns the names of the sources, sorted."""
    return sorted({flow.source for flow in totals.documents})


def funnel_rows(totals: CorpusCounts, steps: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of `funnel`: the documents of a source that entered a step, and their outcomes."""
    flows = group_by_key(sorted(totals.documents), lambda flow: flow[:3])
    names = sources(totals)
    return [
        {
            "step": step,
            "source": source,
            **_named(totals.sizes(Flow(step, source, IN)), IN),
            **_named(totals.sizes(Flow(step, source, KEPT)), KEPT),
            **{
                outcome: {flow.reason: totals.sizes(flow) for flow in flows.get((step, source, outcome), ())}
                for outcome in (DROPPED, REJECTED)
            },
        }
        for step in steps
        for source in names
    ]


def split_rows(totals: CorpusCounts, scrubber: Pii) -> list[dict[str, Any]]:
    """Returns the rows of `splits`: sizes by split, source and licence."""
    flows = [flow for flow in sorted(totals.documents) if flow.step == SPLIT_STEP]
    named = group_by_key(
        flows, lambda flow: (flow.outcome, flow.source, scrubber.scrub_metadata(flow.reason))
    )
    return [
        {"split": split, "source": source, "licence": licence, **totals.sizes(*same)}
        for (split, source, licence), same in sorted(named.items())
    ]


def licence_rows(totals: CorpusCounts, scrubber: Pii) -> list[dict[str, Any]]:
    """Returns the rows of `licences`: sizes by licence and source, before and after cleaning."""
    came = [flow for flow in sorted(totals.documents) if flow.step == LICENCE_STEP]
    named = group_by_key(came, lambda flow: (scrubber.scrub_metadata(flow.reason), flow.source))
    return [
        {
            "licence": licence,
            "source": source,
            **_named(totals.sizes(*same), IN),
            **_named(totals.sizes(*(kept for flow in same for kept in _kept_of(flow))), KEPT),
        }
        for (licence, source), same in sorted(named.items())
    ]


def _kept_of(flow: Flow) -> list[Flow]:
    return [Flow(SPLIT_STEP, flow.source, split, flow.reason) for split in SPLITS]


def _named(sizes: dict[str, int], outcome: str) -> dict[str, int]:
    return {f"{unit}_{outcome}": size for unit, size in sizes.items()}


def repeated_id_rows(totals: CorpusCounts, scrubber: Pii) -> list[dict[str, Any]]:
    """Returns the rows of `repeated_ids`: by source, the ids that several records state, with examples."""
    return [
        {
            "source": source,
            "ids": totals.counts[Count(REPEATED_IDS_STEP, source, "ids")],
            "documents": totals.counts[Count(REPEATED_IDS_STEP, source, "documents")],
            "examples": [
                {"id": each.id, "uri": each.uri}
                for each in (scrub_example(example, scrubber) for example in examples)
            ],
        }
        for (step, source), examples in sorted(totals.examples.items())
        if step == REPEATED_IDS_STEP
    ]


def languages(totals: CorpusCounts, sample: str) -> dict[str, int]:
    """Returns the number of documents of a sample in each language, the most frequent language first."""
    counts = Counter(identify(document.text)[0] for document in totals.samples.get(sample, ()))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def histogram(totals: CorpusCounts, name: str) -> dict[str, list[int]]:
    """Returns the lower bounds of the bins of a histogram of lengths, and the number of documents in each."""
    counts = {int(value): count for (each, value), count in totals.histograms.items() if each == name}
    bins = range(max(counts, default=-1) + 1)
    return {"lower": [2**b // 2 for b in bins], "documents": [counts.get(b, 0) for b in bins]}


def measured_rows(totals: CorpusCounts, steps: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of `measured`: documents by step, measure and value, ascending."""
    found = group_by_key(sorted(totals.histograms), lambda each: each[0])
    return [
        {
            "step": step,
            "measure": name.removeprefix(f"{step}.{MEASURED}"),
            "values": [value for _, value in keys],
            "documents": [totals.histograms[key] for key in keys],
        }
        for step in steps
        for name, keys in found.items()
        if name.startswith(f"{step}.{MEASURED}")
    ]


def size_rows(totals: CorpusCounts, steps: Sequence[str], name: str, what: str) -> list[dict[str, Any]]:
    """Returns the rows of `duplicate_clusters` or `duplicate_buckets`: step, size and number."""
    return [
        {"step": step, "size": size, what: count}
        for step in steps
        for (each, size), count in sorted(totals.histograms.items())
        if each == f"{step}.{name}"
    ]
