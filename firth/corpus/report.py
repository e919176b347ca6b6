"""The corpus report: the funnel of documents by step, rule and source, and what the plots need."""

from collections.abc import Iterable, Sequence
from typing import Any

from firth.corpus.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.split import SPLITS
from firth.corpus.tally import DROPPED, IN, KEPT, REJECTED, Flow, Tally

CLUSTER_HISTOGRAM = "cluster_sizes"
LENGTH_HISTOGRAMS = ("read_words", "read_characters", "cleaned_words", "cleaned_characters")
# Of this step the outcome is the split, and the reason the licence.
SPLIT_STEP = "split"


def length_bin(length: int) -> int:
    """Returns the bin of a length: 0 holds 0, and bin b holds [2**(b-1), 2**b).

    Example:

    >>> [length_bin(length) for length in (0, 1, 2, 3, 4)]
    [0, 1, 2, 2, 3]
    """
    return length.bit_length()


def build_report(tally: Tally, steps: Sequence[str]) -> dict[str, Any]:
    """Returns the report as a JSON object.

    Its keys:
        funnel: One object a step and source, in order: `step`, `source`, `documents_in`, `bytes_in`,
            `documents_kept`, `bytes_kept`, and `dropped` and `rejected`, objects of `documents` and `bytes`
            by reason. Everywhere documents in = kept + dropped + rejected, and what a step keeps comes into
            the next; `bytes_kept` are those of the documents as the step left them.
        counts: What steps counted beside documents, such as lines cut: `step`, `source`, `name`, `count`.
        splits: One object a split, source and licence: `documents`, `bytes`.
        dropped_examples: A few documents that each rule dropped: `step`, `reason`, `source`, `uri`,
            `id`, `excerpt`.
        lengths: By histogram (`read_words`, `read_characters`, `cleaned_words`, `cleaned_characters`):
            `lower` bounds of the bins and `documents` in each.
        duplicate_clusters: `size` of a cluster of duplicates, exact or near, and how many `clusters` have it.

    Raises:
        CountMismatchError: if the counts do not add up.
    """
    tally.check(steps)
    report = {
        "funnel": [_funnel_row(tally, step, source) for step in steps for source in _sources(tally)],
        "counts": [{**what._asdict(), "count": count} for what, count in sorted(tally.counts.items())],
        "splits": _split_rows(tally),
        "dropped_examples": [
            {"step": step, "reason": reason, **example._asdict()}
            for (step, reason), examples in sorted(tally.examples.items())
            for example in examples
        ],
        "lengths": {name: _histogram(tally, name) for name in LENGTH_HISTOGRAMS},
        "duplicate_clusters": [
            {"size": size, "clusters": clusters}
            for (name, size), clusters in sorted(tally.histograms.items())
            if name == CLUSTER_HISTOGRAM
        ],
    }
    _check_splits(report)
    return report


def check_report(report: dict[str, Any]) -> None:
    """Checks that each split has documents.

    Raises:
        EmptyCorpusError: saying which rule dropped how much.
    """
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
                f"{came}, and it takes two. Give more files, or make a text's paragraphs its documents "
                f"(--set sources.0.documents=blank_line); {_losses(report)}"
            )


def _losses(report: dict[str, Any]) -> str:
    losses = [
        f"{row['step']} {outcome} {loss['documents']} of source {row['source']!r} ({reason})"
        for row in report["funnel"]
        for outcome in (DROPPED, REJECTED)
        for reason, loss in row[outcome].items()
    ]
    return "; ".join(losses) or "no rule dropped any"


def _sources(tally: Tally) -> list[str]:
    return sorted({flow.source for flow in tally.documents})


def _funnel_row(tally: Tally, step: str, source: str) -> dict[str, Any]:
    return {
        "step": step,
        "source": source,
        "documents_in": tally.documents[Flow(step, source, IN)],
        "bytes_in": tally.bytes[Flow(step, source, IN)],
        "documents_kept": tally.documents[Flow(step, source, KEPT)],
        "bytes_kept": tally.bytes[Flow(step, source, KEPT)],
        DROPPED: _by_reason(tally, step, source, DROPPED),
        REJECTED: _by_reason(tally, step, source, REJECTED),
    }


def _by_reason(tally: Tally, step: str, source: str, outcome: str) -> dict[str, dict[str, int]]:
    return {
        flow.reason: {"documents": count, "bytes": tally.bytes[flow]}
        for flow, count in sorted(tally.documents.items())
        if flow[:3] == (step, source, outcome)
    }


def _split_rows(tally: Tally) -> list[dict[str, Any]]:
    return [
        {
            "split": flow.outcome,
            "source": flow.source,
            "licence": flow.reason,
            "documents": count,
            "bytes": tally.bytes[flow],
        }
        for flow, count in sorted(tally.documents.items())
        if flow.step == SPLIT_STEP
    ]


def _histogram(tally: Tally, name: str) -> dict[str, list[int]]:
    counts = {value: count for (each, value), count in tally.histograms.items() if each == name}
    bins = range(max(counts, default=-1) + 1)
    return {"lower": [2**b // 2 for b in bins], "documents": [counts.get(b, 0) for b in bins]}


def _check_splits(report: dict[str, Any]) -> None:
    if not report["funnel"]:
        return
    last = report["funnel"][-1]["step"]
    kept = sum(row["documents_kept"] for row in report["funnel"] if row["step"] == last)
    split = _documents(report["splits"])
    if kept != split:
        raise CountMismatchError(f"step {last!r} kept {kept} documents, but {split} were split")


def _documents(rows: Iterable[dict[str, Any]]) -> int:
    return sum(row["documents"] for row in rows)
