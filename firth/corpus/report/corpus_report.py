"""The corpus report: documents by step, rule and source, with data for its plots."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firth.corpus.documents.corpus_counts import (
    BUCKET_HISTOGRAM,
    CLUSTER_HISTOGRAM,
    DROPPED,
    REJECTED,
    UNITS,
    CorpusCounts,
)
from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.documents.split import EVAL, SPLITS
from firth.corpus.grouping.repeated_ids import REPEATED_IDS_STEP
from firth.corpus.privacy.excerpts import scrub_example
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
    return "; ".join(losses) or "no rule dropped any"


def _check_splits(report: dict[str, Any]) -> None:
    if not report["funnel"]:
        return
    last = report["funnel"][-1]["step"]
    kept = sum(row["documents_kept"] for row in report["funnel"] if row["step"] == last)
    split = sum(row["documents"] for row in report["splits"])
    if kept != split:
        raise CountMismatchError(f"step {last!r} kept {kept} documents, but {split} were split")


# There is a warning for a share that differs from the one asked for by more than this factor.
FAR = 2.0


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
