"""Counts of the documents that enter a step and of their outcomes, which must add up."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from firth.corpus.documents.errors import CountMismatchError

# The step before all cleaning steps.
READ = "read"
IN, KEPT, DROPPED, REJECTED = "in", "kept", "dropped", "rejected"
UNITS = ("documents", "bytes", "words")
# The beginning of the name of a histogram of values that a step measures.
MEASURED = "measured "
# Names of the histograms of clusters and of MinHash's buckets by their number of documents.
CLUSTER_HISTOGRAM, BUCKET_HISTOGRAM = "cluster_sizes", "bucket_sizes"
MAX_EXAMPLES = 3
# Enough to estimate the shares of a corpus's languages to a few hundredths.
SAMPLED_DOCUMENTS = 1000


class Flow(NamedTuple):
    """A key of the counts: documents of `source` that had `outcome` in `step`.

    Attributes:
        step: Name of the step in the report.
        source: Name of the source in the recipe.
        outcome: `in`, `kept`, `dropped` or `rejected`.
        reason: Reason for which documents are dropped or rejected; empty for the other outcomes.
    """

    step: str
    source: str
    outcome: str
    reason: str = ""


class Count(NamedTuple):
    """A key of the other counts of a step, such as the number of lines cut by one of its rules.

    Attributes:
        step: Name of the step in the report.
        source: Name of the source in the recipe.
        name: Name of the count, chosen by the step.
    """

    step: str
    source: str
    name: str


class DomainFlow(NamedTuple):
    """A key of the counts by domain.

    Attributes:
        domain: Registered domain of a document's page; empty for a document without a URL.
        outcome: `in`, `kept` or `dropped`.
        reason: Step and reason for which documents were dropped; empty for the other outcomes.
        unit: `documents` or `bytes`.
    """

    domain: str
    outcome: str
    reason: str
    unit: str


class DroppedExample(NamedTuple):
    """A dropped document that the report shows, one of those with the smallest ids.

    Attributes:
        id: Id of the document.
        source: Name of the source in the recipe.
        uri: Address of the text.
        excerpt: The text or its beginning. It may hold personal data, which the report removes.
    """

    id: str
    source: str
    uri: str
    excerpt: str


class SampledDocument(NamedTuple):
    """A document of a sample, which consists of the documents with the smallest ids.

    Attributes:
        id: Id of the document.
        text: Parts of its text, by which its language is identified.
    """

    id: str
    text: str


class CorpusCounts:
    """Counts that are made in parts by many workers and then merged.

    Attributes:
        documents: Number of documents by `Flow`.
        bytes: Bytes of their texts in UTF-8, by `Flow`.
        words: Number of words, by `Flow`.
        counts: The other counts of steps, by `Count`.
        histograms: Number of occurrences by (name of the histogram, value).
        examples: At most `MAX_EXAMPLES` dropped documents by (step, reason).
        samples: At most `SAMPLED_DOCUMENTS` documents by name of the sample.
        domains: Counts by `DomainFlow`. They are not merged with the others: there may be too many domains
            for one worker, so that `SumDomains` sums them by domain.

    Example:

    >>> totals = CorpusCounts()
    >>> totals.add(Flow("length", "docs", IN), size=7)
    >>> merge_counts([totals, totals]).bytes[Flow("length", "docs", IN)]
    14
    """

    def __init__(self) -> None:
        self.documents: Counter[Flow] = Counter()
        self.bytes: Counter[Flow] = Counter()
        self.words: Counter[Flow] = Counter()
        self.counts: Counter[Count] = Counter()
        self.histograms: Counter[tuple[str, float]] = Counter()
        self.examples: dict[tuple[str, str], list[DroppedExample]] = {}
        self.samples: dict[str, list[SampledDocument]] = {}
        self.domains: Counter[DomainFlow] = Counter()

    def add(self, flow: Flow, size: int, words: int = 0) -> None:
        """Counts one document or one rejected record."""
        self.documents[flow] += 1
        self.bytes[flow] += size
        self.words[flow] += words

    def measure(self, name: str, value: float, documents: int = 1) -> None:
        """Counts documents by a value that a step compares with a threshold, to two digits."""
        self.histograms[f"{MEASURED}{name}", float(f"{value:.2g}")] += documents

    def add_example(self, step: str, reason: str, example: DroppedExample) -> None:
        """Keeps a dropped document if its id is among the smallest of those of the same step and reason."""
        kept = self.examples.setdefault((step, reason), [])
        if len(kept) < MAX_EXAMPLES or example < kept[-1]:
            kept[:] = heapq.nsmallest(MAX_EXAMPLES, {*kept, example})

    def add_sample(self, name: str, sampled: Iterable[SampledDocument]) -> None:
        """Adds documents to a sample, of which those with the smallest ids are kept."""
        kept = self.samples.get(name, [])
        self.samples[name] = heapq.nsmallest(SAMPLED_DOCUMENTS, [*kept, *sampled])

    def merge(self, other: "CorpusCounts") -> None:
        """Adds the counts, examples and samples of another part, without those by domain."""
        for name in (*UNITS, "counts", "histograms"):
            getattr(self, name).update(getattr(other, name))
        for (step, reason), examples in other.examples.items():
            for example in examples:
                self.add_example(step, reason, example)
        for name, sampled in other.samples.items():
            self.add_sample(name, sampled)

    def named(self, step: str) -> "CorpusCounts":
        """Returns a copy in which the names of the histograms begin with the step's name.

        Steps of the same kind have histograms of the same name, and a recipe may use a kind more than once.
        """
        named = merge_counts([self])
        named.histograms = Counter(
            {(f"{step}.{name}", n): count for (name, n), count in self.histograms.items()}
        )
        return named

    def sizes(self, *flows: Flow) -> dict[str, int]:
        """Returns the documents, bytes and words of flows together."""
        return {unit: sum(getattr(self, unit)[flow] for flow in flows) for unit in UNITS}

    def totals(self) -> "Counter[tuple[str, str, str]]":
        """Returns the number of documents by step, source and outcome, summed over the reasons."""
        found: Counter[tuple[str, str, str]] = Counter()
        for flow, count in self.documents.items():
            found[flow[:3]] += count
        return found

    def check(self, steps: Iterable[str]) -> None:
        """Checks in each step that in = kept + dropped + rejected, and in = kept of the step before."""
        totals, steps = self.totals(), tuple(steps)
        for source in sorted({flow.source for flow in self.documents}):
            before = None
            for step in steps:
                came, *went = (totals[step, source, outcome] for outcome in (IN, KEPT, DROPPED, REJECTED))
                if came != sum(went) or came != (came if before is None else before):
                    raise CountMismatchError(
                        f"step {step!r}, source {source!r}: {before} kept before, {came} in, "
                        f"but {went[0]} kept + {went[1]} dropped + {went[2]} rejected"
                    )
                before = went[0]


def merge_counts(partial_totals: Iterable[CorpusCounts]) -> CorpusCounts:
    """Returns the sum of the counts of several parts."""
    merged = CorpusCounts()
    for totals in partial_totals:
        merged.merge(totals)
    return merged


def sum_counters(counts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    """Returns the sum of counts, as a function for Beam's `CombineGlobally`.

    Example:

    >>> sum_counters([{"rows": 3}, {"rows": 2, "tokens": 7}])
    {'rows': 5, 'tokens': 7}
    """
    # Beam turns Counters into plain dicts on their way between workers.
    total: Counter[Any] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)
