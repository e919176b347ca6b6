"""The funnel of a corpus, as the command prints it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firth.analysis.funnel import FunnelLine, funnel_lines
from firth.analysis.quantities import bytes_text

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = ("step", "in", "kept", "lost", "share", "bytes kept")


def funnel_table(funnel: Sequence[Mapping[str, Any]]) -> "Table":
    """Returns a row for each step, over all sources, and below it one for each reason."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "step" else "right", no_wrap=True)
    steps: dict[str, list[FunnelLine]] = {}
    for line in funnel_lines(funnel):
        steps.setdefault(line.step, []).append(line)
    for step, (came, *losses, kept) in steps.items():
        lost = came.documents - kept.documents
        sizes = f"{came.documents:,}", f"{kept.documents:,}", f"{lost:,}", _share(lost, came)
        table.add_row(f"[bold]{step}[/]", *sizes, bytes_text(kept.bytes))
        for loss in losses:
            count, share = f"{loss.documents:,}", _share(loss.documents, came)
            table.add_row(f"  {loss.what}", "", "", count, share, "", style="dim")
    return table


def corpus_line(funnel: Sequence[Mapping[str, Any]]) -> str:
    """Returns the numbers of documents read, kept, dropped and rejected, in words.

    Example:

    >>> rejected = {"invalid_utf8": {"documents": 2}}
    >>> dropped = {"too_few_words": {"documents": 3}}
    >>> read = {"step": "read", "documents_in": 9, "dropped": {}, "rejected": rejected}
    >>> length = {"step": "length", "documents_in": 7, "dropped": dropped, "rejected": {}}
    >>> corpus_line([read, length])
    'corpus: 9 documents read, 4 kept, 3 dropped (too_few_words 3), 2 rejected (invalid_utf8 2)'
    """
    read = sum(row["documents_in"] for row in funnel if row["step"] == funnel[0]["step"])
    counts = {"dropped": Counter[str](), "rejected": Counter[str]()}
    for row in funnel:
        for fate, reasons in counts.items():
            reasons.update({reason: count["documents"] for reason, count in row[fate].items()})
    kept = read - sum(reasons.total() for reasons in counts.values())
    parts = [f"{read:,} documents read", f"{kept:,} kept"]
    for fate, reasons in counts.items():
        named = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
        parts.append(f"{reasons.total():,} {fate}" + (f" ({named})" if named else ""))
    return f"corpus: {', '.join(parts)}"


def _share(documents: int, came: FunnelLine) -> str:
    return f"{100 * documents / max(came.documents, 1):.2f} %"
