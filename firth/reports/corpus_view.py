"""A corpus report in the form that the page shows: sums, in order, with the recipe's limits."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.corpus_counts import UNITS
from firth.corpus.report.limits import MeasuredLimit, measure_limits, report_warnings
from firth.recipes import CorpusLimits
from firth.reports.distributions import Distribution

FATES = ("dropped", "rejected")


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


@dataclasses.dataclass(frozen=True)
class ClusterBin:
    """Clusters of duplicates of about one size.

    Attributes:
        step: Name of the step.
        smallest: Documents of the smallest clusters in the bin.
        largest: Documents of the largest clusters in the bin.
        clusters: Number of clusters.
        documents: Number of documents in these clusters.
    """

    step: str
    smallest: int
    largest: int
    clusters: int
    documents: int


@dataclasses.dataclass(frozen=True)
class BucketSum:
    """The MinHash buckets of one step that several documents share.

    Attributes:
        step: Name of the step.
        buckets: Number of buckets.
        largest: Number of documents in the largest one.
        links: Most links that were made of all buckets.
        pairs: Number of pairs that a comparison of each two documents would have taken.
    """

    step: str
    buckets: int
    largest: int
    links: int
    pairs: int


def cluster_bins(rows: Iterable[Mapping[str, Any]]) -> list[ClusterBin]:
    """Returns the clusters by step and size, from a power of two up to the next.

    Example:

    >>> rows = [{"step": "near", "size": 3, "clusters": 2}, {"step": "near", "size": 4, "clusters": 1}]
    >>> cluster_bins(rows)
    [ClusterBin(step='near', smallest=3, largest=4, clusters=3, documents=10)]
    """
    bins = group_by_key(rows, lambda row: (row["step"], (row["size"] - 1).bit_length()))
    return [
        ClusterBin(
            step,
            smallest=2**power // 2 + 1,
            largest=2**power,
            clusters=sum(row["clusters"] for row in members),
            documents=sum(row["size"] * row["clusters"] for row in members),
        )
        for (step, power), members in bins.items()
    ]


def bucket_sums(rows: Iterable[Mapping[str, Any]]) -> list[BucketSum]:
    """Returns the buckets of each step in one line.

    Example:

    >>> bucket_sums([{"step": "near", "size": 2, "buckets": 3}, {"step": "near", "size": 1000, "buckets": 1}])
    [BucketSum(step='near', buckets=4, largest=1000, links=1002, pairs=499503)]
    """
    steps = group_by_key(rows, lambda row: row["step"])
    return [_bucket_sum(step, members) for step, members in steps.items()]


def _bucket_sum(step: str, rows: Iterable[Mapping[str, Any]]) -> BucketSum:
    members = [(row["size"], row["buckets"]) for row in rows]
    return BucketSum(
        step,
        buckets=sum(n for _, n in members),
        largest=max(size for size, _ in members),
        links=sum(n * (size - 1) for size, n in members),
        pairs=sum(n * size * (size - 1) // 2 for size, n in members),
    )


@dataclasses.dataclass(frozen=True)
class SourceSizes:
    """The sizes of a source, or of all sources, before and after the cleaning.

    Attributes:
        source: Name of the source; empty for all.
        came: Sizes that were read, by unit.
        kept: Sizes that are left, by unit.
        dropped: Number of documents dropped.
        rejected: Number of records rejected.
        tokens: Number of tokens that are left; None if it is not known.
    """

    source: str
    came: Mapping[str, int]
    kept: Mapping[str, int]
    dropped: int
    rejected: int
    tokens: int | None

    @property
    def adds_up(self) -> bool:
        """True if documents in = kept + dropped + rejected."""
        return self.came["documents"] == self.kept["documents"] + self.dropped + self.rejected


@dataclasses.dataclass(frozen=True)
class CorpusView:
    """A corpus report, with the reports of single steps and the counts of rows.

    Attributes:
        report: Report as `firth.corpus.report.corpus_report.build_report` describes it.
        steps: Reports of single steps, by their names.
        limits: Limits of the recipe.
        sequence_counts: Counts by split, as `firth.corpus.make_sequences` returns them; may be empty.
    """

    report: Mapping[str, Any]
    steps: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    limits: CorpusLimits = dataclasses.field(default_factory=CorpusLimits)
    sequence_counts: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        """The names of the sources."""
        return sources_of(self.report["funnel"])

    @property
    def measured_limits(self) -> list[MeasuredLimit]:
        """Each limit that the recipe sets, with what was measured."""
        return measure_limits(self.report, self.limits)

    @property
    def repeated_ids(self) -> list[Mapping[str, Any]]:
        """Ids that several records of a source state, for each source that has any."""
        return self.report.get("repeated_ids", [])

    @property
    def warnings(self) -> list[str]:
        """Warnings for the reader before this corpus is trained on."""
        return report_warnings(self.report)

    @property
    def sampled(self) -> int:
        """Number of documents, as read, whose language was identified."""
        return sum(self.report["languages"]["read"].values())

    def lines(self, source: str | None = None) -> list[FunnelLine]:
        """Returns the funnel of one source, or of all.

        Args:
            source: Name of the source; None for all.
        """
        return funnel_lines(self.report["funnel"], source)

    def flow(self, source: str | None = None) -> SourceSizes:
        """Returns the sizes of one source, or of all sources, before and after the cleaning.

        Args:
            source: Name of the source; None for all.
        """
        rows = [row for row in self.report["funnel"] if source in (None, row["source"])]
        lost = Counter(
            {fate: sum(each["documents"] for row in rows for each in row[fate].values()) for fate in FATES}
        )
        first, last = (
            [row for row in rows if row["step"] == rows[place]["step"]] if rows else [] for place in (0, -1)
        )
        return SourceSizes(
            source or "",
            {unit: sum(row[f"{unit}_in"] for row in first) for unit in UNITS},
            {unit: sum(row[f"{unit}_kept"] for row in last) for unit in UNITS},
            lost["dropped"],
            lost["rejected"],
            self._tokens(source),
        )

    def _tokens(self, source: str | None) -> int | None:
        counts = [split["sources"] for split in self.sequence_counts.values() if "sources" in split]
        if not counts:
            return None
        return sum(tokens for each in counts for name, tokens in each.items() if source in (None, name))

    @property
    def clusters(self) -> list[ClusterBin]:
        """Clusters of duplicates by step and size, from a power of two up to the next."""
        return cluster_bins(self.report["duplicate_clusters"])

    @property
    def buckets(self) -> list[BucketSum]:
        """Number and cost of MinHash buckets, for each step that has any."""
        return bucket_sums(self.report["duplicate_buckets"])

    @property
    def licences(self) -> list[dict[str, Any]]:
        """The sizes by licence, of what was read and of what is left, the largest first."""
        sums: dict[str, Counter[str]] = {}
        for row in self.report["licences"]:
            sizes = {f"{unit}_{way}": row[f"{unit}_{way}"] for unit in UNITS for way in ("in", "kept")}
            sums.setdefault(row["licence"], Counter()).update(sizes)
        rows = [{"licence": licence, **sizes} for licence, sizes in sums.items()]
        return sorted(rows, key=lambda row: -row["bytes_in"])

    @property
    def domains(self) -> Mapping[str, Any]:
        """The `number` of domains of pages and the rows of the `largest`, if a document has a URL."""
        found = self.report.get("domains", {"largest": []})
        return found if any(row["domain"] for row in found["largest"]) else {"largest": []}

    @property
    def benchmarks(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Name and report of each step that looks for evaluation data."""
        return [(name, found) for name, found in self.steps.items() if "benchmarks" in found]

    @property
    def classifiers(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Name and report of each step that trains a classifier."""
        return [(name, found) for name, found in self.steps.items() if "auc" in found]

    @property
    def distributions(self) -> list[Distribution]:
        """Documents by each value that a step measures, if the recipe asks for it."""
        return [Distribution.of(row) for row in self.report.get("measured", ())]

    @property
    def scored(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Name and report of each step that decides by the score of a classifier."""
        return [(name, found) for name, found in self.steps.items() if "scores" in found]
