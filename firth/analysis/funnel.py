"""The number of documents after each cleaning step, summed over sources."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firth.corpus.documents.corpus_counts import UNITS


@dataclasses.dataclass(frozen=True)
class FunnelLine:
    """One line of the funnel: the sizes that a step took in, lost for a reason, or kept.

    Attributes:
        step: Name of the step.
        what: Description such as `in`, `kept` or `dropped: too_short`.
        documents: Number of documents.
        bytes: Number of UTF-8 bytes.
        words: Number of words.
    """

    step: str
    what: str
    documents: int
    bytes: int
    words: int


def funnel_lines(rows: Iterable[Mapping[str, Any]], source: str | None = None) -> list[FunnelLine]:
    """Returns the funnel of one source, or summed over all of them.

    Example:

    >>> row = {"step": "length", "source": "a", "documents_in": 3, "bytes_in": 30, "words_in": 9,
    ...        "documents_kept": 2, "bytes_kept": 20, "words_kept": 8, "rejected": {},
    ...        "dropped": {"too_short": {"documents": 1, "bytes": 10, "words": 1}}}
    >>> [(line.what, line.documents) for line in funnel_lines([row])]
    [('in', 3), ('dropped: too_short', 1), ('kept', 2)]
    """
    chosen = [row for row in rows if source in (None, row["source"])]
    steps = list(dict.fromkeys(row["step"] for row in chosen))
    return [
        line for step in steps for line in _step_lines(step, [row for row in chosen if row["step"] == step])
    ]


def sources_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the sources, in their first order."""
    return list(dict.fromkeys(row["source"] for row in rows))


def _step_lines(step: str, rows: Sequence[Mapping[str, Any]]) -> list[FunnelLine]:
    lost: dict[str, Counter[str]] = {}
    for row in rows:
        for outcome in ("rejected", "dropped"):
            for reason, sizes in row[outcome].items():
                lost.setdefault(f"{outcome}: {reason}", Counter()).update(sizes)
    came, kept = (
        FunnelLine(step, what, *(sum(row[f"{unit}_{what}"] for row in rows) for unit in UNITS))
        for what in ("in", "kept")
    )
    return [
        came,
        *(FunnelLine(step, what, *(lost[what][unit] for unit in UNITS)) for what in sorted(lost)),
        kept,
    ]
