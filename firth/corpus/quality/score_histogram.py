"""Histograms of the documents' scores."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

BINS = 20

# By source, bin of the score, and whether the document was kept.
ScoreCounts = Counter[tuple[str, int, bool]]


def count_score(counts: ScoreCounts, source: str, score: float, kept: bool) -> None:
    """Counts one document by its source, its score and whether it was kept.

    Args:
        counts: The counts to add to.
        source: Name of the source.
        score: The score, in [0, 1].
        kept: Whether the document was kept.
    """
    counts[source, min(int(score * BINS), BINS - 1), kept] += 1


def score_histogram(counts: Mapping[tuple[str, int, bool], int]) -> dict[str, Any]:
    """Returns the counts as a JSON object.

    Args:
        counts: Number of documents by source, bin and whether they were kept.

    Returns:
        `lower`, the lower bounds of the bins, the last of which includes 1; and `sources`, one object for
        each source: `source`, and the number of documents `kept` and `dropped` in each bin.

    Example:

    >>> counts = Counter()
    >>> count_score(counts, "web", 0.97, True)
    >>> score_histogram(counts)["sources"][0]["kept"][-2:]
    [0, 1]
    """
    # Beam turns Counters into plain dicts on their way between workers.
    counts = Counter(counts)
    sources = sorted({source for source, _, _ in counts})
    return {
        "lower": [place / BINS for place in range(BINS)],
        "sources": [
            {
                "source": source,
                "kept": [counts[source, place, True] for place in range(BINS)],
                "dropped": [counts[source, place, False] for place in range(BINS)],
            }
            for source in sources
        ],
    }
