"""Limits of a recipe on a cleaned corpus, and on the changes of its shares since another corpus."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from firth.corpus.documents.corpus_counts import DROPPED, READ, REJECTED
from firth.corpus.documents.errors import CorpusLimitsError
from firth.corpus.documents.split import EVAL
from firth.recipes.corpus.cleaning import CorpusLimits

KEY = "cleaning.limits"
# Number of steps that an error names: those that dropped most documents.
STEPS_NAMED = 3
# Number of changes of each kind that an error names.
_NAMED = 3
_DIGITS = 12


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


class ShareChange(NamedTuple):
    """The change of one share.

    Attributes:
        of: `languages`, `sources` or `domains`.
        name: Language, source or domain.
        share: Share in the corpus, from 0 to 1.
        before: Share in the corpus that it is compared with.
        change: Absolute difference of the two; of a domain that one report does not list, the least that it
            can be.
        most: Largest change that the recipe allows.
    """

    of: str
    name: str
    share: float
    before: float
    change: float
    most: float

    @property
    def is_kept(self) -> bool:
        """True if the change is within the bound."""
        return self.change <= self.most


class _Shares(NamedTuple):
    """Shares of one corpus: the listed ones, and the largest that an unlisted one can have."""

    listed: dict[str, float]
    unlisted: float = 0.0


def measure_changes(
    report: Mapping[str, Any], before: Mapping[str, Any], bounds: Mapping[str, float]
) -> list[ShareChange]:
    """Returns the changes of all shares, the largest change of each kind first.

    Languages are counted in documents of the sample of the cleaned corpus, sources in bytes, and domains in
    documents that are left. A report lists the domains with most documents alone.

    Example:

    >>> now, last = ({"languages": {"cleaned": {"en": en, "de": 10 - en}}} for en in (6, 9))
    >>> [(each.name, each.share, each.before) for each in measure_changes(now, last, {"languages": 0.1})]
    [('de', 0.4, 0.1), ('en', 0.6, 0.9)]
    """
    changes: list[ShareChange] = []
    for of, most in bounds.items():
        found = list(_changes(of, _SHARES[of](report), _SHARES[of](before), most))
        changes += sorted(found, key=lambda each: (-each.change, each.name))
    return changes


def check_changes(changes: Iterable[ShareChange]) -> None:
    """Checks that no share changed by more than its bound."""
    named: Counter[str] = Counter()
    lines = []
    for each in changes:
        if not each.is_kept and named[each.of] < _NAMED:
            lines.append(change_line(each))
            named[each.of] += 1
    if lines:
        raise CorpusLimitsError(
            f"{'; '.join(lines)}. If the corpus is right, raise validation.shares, or say "
            "validation.on_anomaly: report"
        )


def change_line(change: ShareChange) -> str:
    """Returns one change in words.

    Example:

    >>> change_line(ShareChange("languages", "en", 0.6, 0.9, 0.3, 0.1))
    'share of en among languages: 0.6, and 0.9 in the last run; it moved by 0.3, more than 0.1'
    """
    beyond = "at most" if change.is_kept else "more than"
    return (
        f"share of {change.name or 'no domain'} among {change.of}: {change.share:.3g}, and "
        f"{change.before:.3g} in the last run; it moved by {change.change:.3g}, {beyond} {change.most:g}"
    )


def _changes(of: str, now: _Shares, before: _Shares, most: float) -> Iterator[ShareChange]:
    for name in now.listed | before.listed:
        share, last = (each.listed.get(name, 0.0) for each in (now, before))
        unlisted = max((each.unlisted for each in (now, before) if name not in each.listed), default=0.0)
        # In floating point, 0.9 - 0.6 is more than 0.3.
        change = round(max(abs(share - last) - unlisted, 0.0), _DIGITS)
        yield ShareChange(of, name, share, last, change, most)


def _of_counts(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()} if total else {}


def _languages(report: Mapping[str, Any]) -> _Shares:
    return _Shares(_of_counts(report["languages"]["cleaned"]))


def _sources(report: Mapping[str, Any]) -> _Shares:
    sizes: Counter[str] = Counter()
    for row in report["splits"]:
        sizes[row["source"]] += row["bytes"]
    return _Shares(_of_counts(sizes))


def _domains(report: Mapping[str, Any]) -> _Shares:
    rows, number = report["domains"]["largest"], report["domains"]["number"]
    total = sum(row["documents"] for row in report["splits"])
    listed = {row["domain"]: row["documents_kept"] / total for row in rows if total}
    # An unlisted domain had at most as many documents as the last one, before cleaning.
    least = rows[-1]["documents_in"] / total if total and number > len(rows) else 0.0
    return _Shares(listed, least)


_SHARES: dict[str, Callable[[Mapping[str, Any]], _Shares]] = {
    "languages": _languages,
    "sources": _sources,
    "domains": _domains,
}
