"""Measurement of a cleaned corpus by the limits that its recipe sets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from firth.corpus.documents.corpus_counts import DROPPED, READ, REJECTED
from firth.corpus.documents.errors import CorpusLimitsError
from firth.corpus.documents.split import EVAL
from firth.recipes.corpus.limits import CorpusLimits

KEY = "cleaning.limits"
# Number of steps that an error names: those that dropped most documents.
STEPS_NAMED = 3


class MeasuredLimit(NamedTuple):
    """A limit of the recipe and the measured value.

    Attributes:
        key: Key of the limit in the recipe.
        bound: Value of the limit in the recipe.
        measured: Measured value.
        what: Clause about the measured value.
        is_kept: True if the measured value is within the limit.
    """

    key: str
    bound: float
    measured: float
    what: str
    is_kept: bool


def measure_limits(report: Mapping[str, Any], limits: CorpusLimits) -> list[MeasuredLimit]:
    """Returns the measured value of each limit that the recipe sets.

    Args:
        report: The report of `build_report`.
        limits: The limits of the recipe. Those with their default value are left out.

    Example:

    >>> dropped = {"too_few_words": {"documents": 3}}
    >>> row = {"step": "length", "source": "web", "documents_in": 4, "dropped": dropped, "rejected": {}}
    >>> limits = CorpusLimits(max_dropped_fraction=0.6)
    >>> measure_limits({"funnel": [row], "splits": []}, limits)[0].what
    '0.75 of the documents that came into the cleaning were dropped (3 of 4; 3 by length)'
    """
    set_ones = limits.model_dump(exclude_defaults=True)
    measured = [*_corpus(report, limits), *_steps(report, limits)]
    return [each for each in measured if each.key.split(".")[2] in set_ones]


def check_limits(measured: Iterable[MeasuredLimit], report_path: str) -> None:
    """Checks that all limits are kept.

    Args:
        measured: The limits with their measured values.
        report_path: Path of the corpus report, for the message.

    Raises:
        CorpusLimitsError: if a limit is not kept; the message names its key and value, the measured value and
            the report.
    """
    broken = [f"{each.key} is {each.bound:g}, but {each.what}" for each in measured if not each.is_kept]
    if broken:
        raise CorpusLimitsError(f"{'; '.join(broken)}. The report is {report_path}")


def _corpus(report: Mapping[str, Any], limits: CorpusLimits) -> Iterator[MeasuredLimit]:
    read = [row for row in report["funnel"] if row["step"] == READ]
    cleaning = [row for row in report["funnel"] if row["step"] != READ]
    came = [row for row in cleaning if row["step"] == cleaning[0]["step"]]
    dropped = _share(cleaning, DROPPED, came, "documents that came into the cleaning")
    rejected = _share(read, REJECTED, read, "records")
    yield _at_most("max_dropped_fraction", limits.max_dropped_fraction, *dropped)
    yield _at_most("max_rejected_fraction", limits.max_rejected_fraction, *rejected)
    yield _at_most("max_source_fraction", limits.max_source_fraction, *_largest_source(report["splits"]))
    yield _at_most("max_eval_fraction", limits.max_eval_fraction, *_held_out(report["splits"]))
    left, bound = sum(row["documents"] for row in report["splits"]), limits.min_documents
    yield MeasuredLimit(f"{KEY}.min_documents", bound, left, f"{left:,} documents are left", left >= bound)


def _steps(report: Mapping[str, Any], limits: CorpusLimits) -> Iterator[MeasuredLimit]:
    for i, limit in enumerate(limits.steps):
        rows = [row for row in report["funnel"] if row["step"] == limit.step]
        dropped = _share(rows, DROPPED, rows, f"documents that came into {limit.step}")
        yield _at_most(f"steps.{i}.max_dropped_fraction", limit.max_dropped_fraction, *dropped)


def _at_most(key: str, bound: float, measured: float, what: str) -> MeasuredLimit:
    return MeasuredLimit(f"{KEY}.{key}", bound, measured, what, measured <= bound)


def _share(
    rows: list[dict[str, Any]], outcome: str, came_in: list[dict[str, Any]], what: str
) -> tuple[float, str]:
    """Returns the share of documents that had an outcome, as a number and in words."""
    came = sum(row["documents_in"] for row in came_in)
    lost: Counter[str] = Counter()
    for row in rows:
        lost[row["step"]] += sum(each["documents"] for each in row[outcome].values())
    share = lost.total() / came if came else 0.0
    by = "".join(f"; {count:,} by {step}" for step, count in lost.most_common(STEPS_NAMED) if count)
    return share, f"{share:.4g} of the {what} were {outcome} ({lost.total():,} of {came:,}{by})"


def _held_out(splits: list[dict[str, Any]]) -> tuple[float, str]:
    total = sum(row["bytes"] for row in splits)
    held = sum(row["bytes"] for row in splits if row["split"] == EVAL)
    share = held / total if total else 0.0
    return share, f"{share:.4g} of the bytes that are left are held out ({held:,} of {total:,})"


def _largest_source(splits: list[dict[str, Any]]) -> tuple[float, str]:
    sizes: dict[str, int] = {}
    for row in splits:
        sizes[row["source"]] = sizes.get(row["source"], 0) + row["bytes"]
    total, largest = sum(sizes.values()), max(sizes, key=lambda source: sizes[source], default="")
    share = sizes[largest] / total if total else 0.0
    return share, f"{share:.4g} of the bytes that are left are of source {largest!r}"


def report_warnings(report: Mapping[str, Any]) -> list[str]:
    """Returns the warnings of a corpus report, a sentence each.

    Example:

    >>> report_warnings({"held_out": {"warning": ""}, "unstated_keys": ["source 'web': ..."]})
    ["source 'web': ..."]
    """
    warning = report.get("held_out", {}).get("warning")
    others = (sentence for key in ("unstated_keys", "undecoded") for sentence in report.get(key, []))
    return [*([warning] if warning else []), *others]
