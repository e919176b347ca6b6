"""Shares of languages, sources and domains in a cleaned corpus, and their changes since another one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from firth.corpus.documents.errors import CorpusLimitsError

# Number of changes of each kind that an error names.
_NAMED = 3
_DIGITS = 12


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
