"""The corpus report: documents by step, rule and source, with data for its plots."""

from collections.abc import Sequence
from typing import Any

from firth.corpus.documents.corpus_counts import DROPPED, REJECTED, CorpusCounts
from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.documents.split import SPLITS
from firth.corpus.grouping.repeated_ids import REPEATED_IDS_STEP
from firth.corpus.privacy.excerpts import fit_to_show
from firth.corpus.privacy.pii import Pii
from firth.corpus.report.report_rows import (
    funnel_rows,
    histogram,
    languages,
    licence_rows,
    measured_rows,
    repeated_id_rows,
    size_rows,
    split_rows,
)

CLUSTER_HISTOGRAM = "cluster_sizes"
BUCKET_HISTOGRAM = "bucket_sizes"
LENGTH_HISTOGRAMS = ("read_words", "read_characters", "cleaned_words", "cleaned_characters")
SAMPLES = ("read", "cleaned")


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
            {"step": step, "reason": reason, **fit_to_show(example, scrubber)._asdict()}
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
    return "; ".join(losses) or "no rule dropped any"


def _check_splits(report: dict[str, Any]) -> None:
    if not report["funnel"]:
        return
    last = report["funnel"][-1]["step"]
    kept = sum(row["documents_kept"] for row in report["funnel"] if row["step"] == last)
    split = sum(row["documents"] for row in report["splits"])
    if kept != split:
        raise CountMismatchError(f"step {last!r} kept {kept} documents, but {split} were split")
