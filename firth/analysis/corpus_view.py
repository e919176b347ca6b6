"""A corpus report in the form that the page shows: sums, in order, with the recipe's limits."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

from firth.analysis.distributions import Distribution
from firth.analysis.duplicates import BucketSum, ClusterBin, bucket_sums, cluster_bins
from firth.analysis.funnel import FunnelLine, funnel_lines, sources_of
from firth.corpus.documents.corpus_counts import UNITS
from firth.corpus.report.limits import MeasuredLimit, measure_limits
from firth.corpus.report.report_warnings import report_warnings
from firth.recipes import CorpusLimits

FATES = ("dropped", "rejected")


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
        """Whether documents in = kept + dropped + rejected."""
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
