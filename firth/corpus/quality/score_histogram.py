"""Histograms of the documents' scores."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from firth.corpus.documents.corpus_counts import CorpusCounts

BINS = 20

# By source, bin of the score, whether the document was kept, and the score to two digits.
ScoreCounts = Counter[tuple[str, int, bool, float]]


def count_score(counts: ScoreCounts, source: str, score: float, kept: bool) -> None:
    """Counts one document by its source, its score and whether it was kept."""
    counts[source, min(int(score * BINS), BINS - 1), kept, float(f"{score:.2g}")] += 1


def score_histogram(counts: Mapping[tuple[str, int, bool, float], int]) -> dict[str, Any]:
    """Returns the counts as a JSON object.

    Example:

    >>> counts = Counter()
    >>> count_score(counts, "web", 0.97, True)
    >>> score_histogram(counts)["sources"][0]["kept"][-2:]
    [0, 1]
    """
    sums = Counter[tuple[str, int, bool]]()
    for (source, place, kept, _), documents in counts.items():
        sums[source, place, kept] += documents
    sources = sorted({source for source, _, _ in sums})
    return {
        "lower": [place / BINS for place in range(BINS)],
        "sources": [
            {
                "source": source,
                "kept": [sums[source, place, True] for place in range(BINS)],
                "dropped": [sums[source, place, False] for place in range(BINS)],
            }
            for source in sources
        ],
    }


def measured_scores(counts: Mapping[tuple[str, int, bool, float], int]) -> CorpusCounts:
    """Returns the counts of the corpus report on what is measured: documents of all sources by score."""
    totals = CorpusCounts()
    for (*_, score), documents in counts.items():
        totals.measure("score", score, documents)
    return totals
