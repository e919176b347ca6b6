"""The corpus report: the funnel of documents by step, rule and source, and what the plots need."""

from collections.abc import Iterable, Sequence
from typing import Any

from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.corpus.documents.split import SPLITS
from firth.corpus.documents.tally import DROPPED, REJECTED, Tally
from firth.corpus.grouping.repeated_ids import REPEATED_IDS_STEP
from firth.corpus.privacy.excerpts import fit_to_show
from firth.corpus.privacy.pii import Pii
from firth.corpus.report.report_rows import (
    funnel_row,
    histogram,
    languages,
    licence_rows,
    repeated_id_rows,
    size_rows,
    sources,
    split_rows,
)

CLUSTER_HISTOGRAM = "cluster_sizes"
BUCKET_HISTOGRAM = "bucket_sizes"
LENGTH_HISTOGRAMS = ("read_words", "read_characters", "cleaned_words", "cleaned_characters")
SAMPLES = ("read", "cleaned")


def length_bin(length: int) -> int:
    """Returns the bin of a length: 0 holds 0, and bin b holds [2**(b-1), 2**b).

    Example:

    >>> [length_bin(length) for length in (0, 1, 2, 3, 4)]
    [0, 1, 2, 2, 3]
    """
    return length.bit_length()


def build_report(tally: Tally, steps: Sequence[str], scrubber: Pii) -> dict[str, Any]:
    """Returns the report as a JSON object. Sizes are `documents`, `bytes` and `words`.

    Its keys:
        funnel: One object a step and source, in order: `step`, `source`, the sizes of what came in, as
            `documents_in` and so on, and of what was kept, as `documents_kept`; `dropped` and `rejected`,
            objects of sizes by reason. Everywhere documents in = kept + dropped + rejected, and what a step
            keeps comes into the next; bytes and words kept are those of the documents as the step left them.
        repeated_ids: Ids that several records of a source state, which stay documents of their own: `source`;
            `ids`, how many; `documents` that have them; `examples`, an `id` and a `uri` each.
        counts: What steps counted next to documents, such as lines cut: `step`, `source`, `name`, `count`.
        splits: One object a split, source and licence, with its sizes.
        licences: One object a licence and source, with the sizes of what was read, `documents_in`, and of
            what is left, `documents_kept`.
        dropped_examples: A few documents that each rule dropped: `step`, `reason`, `source`, `uri`,
            `id`, `excerpt`. URI and excerpt are without personal data.
        lengths: By histogram (`read_words`, `read_characters`, `cleaned_words`, `cleaned_characters`):
            `lower` bounds of the bins and `documents` in each.
        languages: Of a sample of the documents as `read` and as `cleaned`, how many are in which language.
        duplicate_clusters: `step`, `size` of a cluster of duplicates, and how many `clusters` have it.
        duplicate_buckets: `step`, `size` of a bucket of MinHash that several documents share, and how many
            `buckets` have it.

    Args:
        tally: Of the whole corpus.
        steps: Their names, in order.
        scrubber: What takes personal data out of what is quoted.

    Raises:
        CountMismatchError: if the counts do not add up.
    """
    tally.check(steps)
    report = {
        "funnel": [funnel_row(tally, step, source) for step in steps for source in sources(tally)],
        "repeated_ids": repeated_id_rows(tally, scrubber),
        "counts": [
            {**what._asdict(), "count": count}
            for what, count in sorted(tally.counts.items())
            if what.step != REPEATED_IDS_STEP
        ],
        "splits": split_rows(tally),
        "licences": licence_rows(tally),
        "dropped_examples": [
            {"step": step, "reason": reason, **fit_to_show(example, scrubber)._asdict()}
            for (step, reason), examples in sorted(tally.examples.items())
            if step != REPEATED_IDS_STEP
            for example in examples
        ],
        "lengths": {name: histogram(tally, name) for name in LENGTH_HISTOGRAMS},
        "languages": {name: languages(tally, name) for name in SAMPLES},
        "duplicate_clusters": size_rows(tally, steps, CLUSTER_HISTOGRAM, "clusters"),
        "duplicate_buckets": size_rows(tally, steps, BUCKET_HISTOGRAM, "buckets"),
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
