"""Counts of documents, tokens and rows on their way to packed rows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from firth.corpus.documents.errors import CountMismatchError, EmptyCorpusError
from firth.storage import write_json

COUNTS_FILE = "sequence_counts.json"
# The beginning of the names of counts of a source's tokens.
SOURCE = "source "
COUNTS = (
    "rows",
    "documents",
    "empty_documents",
    "cut_documents",
    "cut_words",
    "chunks",
    "tokens",
    "padding_tokens",
    "repeated_documents",
    "left_out_documents",
    "rows_without_negative",
)

# Counts by (split, name).
SplitCounts = Mapping[tuple[str, str], int]


def key_by_split(counts: Mapping[str, int], split: str) -> Counter:
    """Returns the counts of one split by (split, name).

    Example:

    >>> key_by_split({"rows": 3}, "train")
    Counter({('train', 'rows'): 3})
    """
    return Counter({(split, name): count for name, count in counts.items()})


def write_counts(summed: dict[tuple[str, str], int], path: str, splits: Iterable[str]) -> None:
    """Writes the counts of some splits to a JSON file, after checking that nothing was lost."""
    counts = Counter(summed)
    for split in splits:
        counts[split, "mixed"] = counts[split, "read"] + counts[split, "repeated_documents"]
        counts[split, "mixed"] -= counts[split, "left_out_documents"]
        pairs = (("mixed", "documents"), ("tokenized", "tokens"), ("rows", "written"))
        for came, went in pairs:
            if counts[split, came] != counts[split, went]:
                raise CountMismatchError(
                    f"{split}: {counts[split, came]} {came}, {counts[split, went]} {went}"
                )
    write_json(path, {split: _counts_of(split, counts) for split in splits})


def _counts_of(split: str, counts: SplitCounts) -> dict[str, Any]:
    tokens = {
        name.removeprefix(SOURCE): count
        for (each, name), count in sorted(counts.items())
        if each == split and name.startswith(SOURCE)
    }
    return {**{name: counts[split, name] for name in COUNTS}, "sources": tokens}


def check_counts(counts: Mapping[str, Mapping[str, Any]]) -> None:
    """Checks that each split has rows."""
    for split, each in counts.items():
        if not each["rows"]:
            raise EmptyCorpusError(
                f"the {split} split has no row: {each['empty_documents']} of its {each['documents']} "
                "documents have no token"
            )
