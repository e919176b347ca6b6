"""How many documents have which score."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

BINS = 20

# By source, bin of the score, and whether the document was kept.
ScoreCounts = Counter[tuple[str, int, bool]]


def count_score(counts: ScoreCounts, source: str, score: float, kept: bool) -> None:
    """Counts one document of a score in [0, 1]."""
    counts[source, min(int(score * BINS), BINS - 1), kept] += 1


def score_histogram(counts: Mapping[tuple[str, int, bool], int]) -> dict[str, Any]:
    """Returns the counts as a JSON object.

    Its keys:
        lower: Bounds of the bins, the last of which holds 1 too.
        sources: One object a source: `source`, and the documents `kept` and `dropped` in each bin.

    Example:

    >>> counts = Counter()
    >>> count_score(counts, "web", 0.97, True)
    >>> score_histogram(counts)["sources"][0]["kept"][-2:]
    [0, 1]
    """
    # Between workers Beam makes plain dicts of Counters.
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
