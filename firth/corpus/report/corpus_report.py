"""The corpus report: documents by step, rule and source, with data for its plots."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.corpus_counts import (
    BUCKET_HISTOGRAM,
    CLUSTER_HISTOGRAM,
    DROPPED,
    IN,
    KEPT,
    MEASURED,
    REJECTED,
    UNITS,
    CorpusCounts,
    Count,
    Flow,
)
from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.documents.split import EVAL, SPLITS
from firth.corpus.filters.language import identify
from firth.corpus.grouping.repeated_ids import REPEATED_IDS_STEP
from firth.corpus.privacy.excerpts import scrub_example
from firth.corpus.privacy.pii import Pii

LENGTH_HISTOGRAMS = ("read_words", "read_characters", "cleaned_words", "cleaned_characters")
SAMPLES = ("read", "cleaned")
# There is a warning for a share that differs from the one asked for by more than this factor.
FAR = 2.0
# The step under which documents are counted by split (as outcome) and licence (as reason).
SPLIT_STEP = "split"
# The step under which documents are counted by licence (as reason) before cleaning (with the outcome IN).
LICENCE_STEP = "licence"


def length_bin(length: int) -> int:
    """Returns the bin of a length: bin 0 holds 0, and bin b holds the lengths in [2**(b-1), 2**b).

    Example:

    >>> [length_bin(length) for length in (0, 1, 2, 3, 4)]
    [0, 1, 2, 2, 3]
    """
    return length.bit_length()


def build_report(totals: CorpusCounts, steps: Sequence[str], scrubber: Pii) -> dict[str, Any]:
    """Returns the report as a JSON object. Sizes are numbers of `documents`, `bytes` and `words`.

    Raises:
        CountMismatchError: if the counts do not add up.
    """
    totals.check(steps)
    report = {
        "funnel": funnel_rows(totals, steps),
        "repeated_ids": repeated_id_rows(totals, scrubber),
        "counts": [
            {**what._asdict(), "count": count}
            for what, count in sorted(totals.counts.items())
            if what.step != REPEATED_IDS_STEP
        ],
        "splits": split_rows(totals, scrubber),
        "licences": licence_rows(totals, scrubber),
        "dropped_examples": [
            {"step": step, "reason": reason, **scrub_example(example, scrubber)._asdict()}
            for (step, reason), examples in sorted(totals.examples.items())
            if step != REPEATED_IDS_STEP
            for example in examples
        ],
        "lengths": {name: histogram(totals, name) for name in LENGTH_HISTOGRAMS},
        "languages": {name: languages(totals, name) for name in SAMPLES},
        "duplicate_clusters": size_rows(totals, steps, CLUSTER_HISTOGRAM, "clusters"),
        "measured": measured_rows(totals, steps),
        "duplicate_buckets": size_rows(totals, steps, BUCKET_HISTOGRAM, "buckets"),
    }
    _check_splits(report)
    return report


def check_report(report: dict[str, Any]) -> None:
    """Checks that each split has documents."""
    documents = dict.fromkeys(SPLITS, 0)
    for row in report["splits"]:
        documents[row["split"]] += row["documents"]
    came = sum(row["documents_in"] for row in report["funnel"] if row["step"] == report["funnel"][0]["step"])
    if not any(documents.values()):
        raise EmptyCorpusError(f"nothing is left of {came} documents: {_losses(report)}")
    for split, count in documents.items():
        if not count:
            raise EmptyCorpusError(
                f"the {split} split is empty: {sum(documents.values())} different documents are left of "
                f"{came}, and at least two are needed. Give more files, or make a text's paragraphs its "
                f"documents (--set sources.0.documents=blank_line); {_losses(report)}"
            )


def _losses(report: dict[str, Any]) -> str:
    losses = [
        f"{row['step']} {outcome} {loss['documents']} of source {row['source']!r} ({reason})"
        for row in report["funnel"]
        for outcome in (DROPPED, REJECTED)
        for reason, loss in row[outcome].items()
    ]
    if not losses:
        return "no rule dropped any"
    return f"{'; '.join(losses)}. The recipe's cleaning.steps hold the limits; cleaning.steps=[] drops none"


def _check_splits(report: dict[str, Any]) -> None:
    if not report["funnel"]:
        return
    last = report["funnel"][-1]["step"]
    kept = sum(row["documents_kept"] for row in report["funnel"] if row["step"] == last)
    split = sum(row["documents"] for row in report["splits"])
    if kept != split:
        raise CountMismatchError(f"step {last!r} kept {kept} documents, but {split} were split")


def measure_held_out(splits: Iterable[Mapping[str, Any]], asked: float) -> dict[str, Any]:
    """Returns the shares of documents, bytes and words in the eval split.

    Example:

    >>> book = {"documents": 1, "bytes": 28, "words": 28}
    >>> others = {"documents": 2, "bytes": 72, "words": 72}
    >>> measure_held_out([{"split": "eval", **book}, {"split": "train", **others}], 0.05)["warning"]
    'cleaning.split.eval_fraction is 0.05, but 1 of 3 documents is held out with 0.28 of the bytes ...'
    """
    rows = list(splits)
    whole = {unit: sum(row[unit] for row in rows) for unit in UNITS}
    held = {unit: sum(row[unit] for row in rows if row["split"] == EVAL) for unit in UNITS}
    shares = {unit: held[unit] / whole[unit] if whole[unit] else 0.0 for unit in UNITS}
    is_far = any(not asked / FAR <= shares[unit] <= asked * FAR for unit in ("bytes", "words"))
    documents = f"{held['documents']:,} of {whole['documents']:,} documents"
    warning = (
        f"cleaning.split.eval_fraction is {asked:g}, but {documents} "
        f"{'is' if held['documents'] == 1 else 'are'} held out with {shares['bytes']:.3g} of the bytes and "
        f"{shares['words']:.3g} of the words: documents are held out whole, so the share differs if they are "
        "few or differ much in size"
    )
    return {"asked": asked, **shares, "warning": warning if is_far and rows else ""}


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
