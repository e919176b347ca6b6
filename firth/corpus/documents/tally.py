"""What happened to the documents of a corpus, counted so that it must add up."""

import heapq
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from firth.corpus.documents.errors import CountMismatchError

# The step before all cleaning steps.
READ = "read"
IN, KEPT, DROPPED, REJECTED = "in", "kept", "dropped", "rejected"
MAX_EXAMPLES = 3
# Enough to tell the shares of a corpus's languages to a few hundredths.
SAMPLED_DOCUMENTS = 1000


class Flow(NamedTuple):
    """One line of the account: in `step`, documents of `source` had this `outcome` for this `reason`."""

    step: str
    source: str
    outcome: str
    reason: str = ""


class Count(NamedTuple):
    """Something next to documents that a step counts, such as the lines that it cut for one rule."""

    step: str
    source: str
    name: str


class Example(NamedTuple):
    """A dropped document, or its beginning. Those with the smallest ids are shown, so workers do not matter.

    What it says may hold personal data, until the report leaves that out.
    """

    id: str
    source: str
    uri: str
    excerpt: str


class Sampled(NamedTuple):
    """The beginning of a document of a sample: of all documents those with the smallest ids."""

    id: str
    text: str


class Tally:
    """Counts that are made in parts, on many workers, and merged.

    Attributes:
        documents, bytes, words: By `Flow`.
        counts: By `Count`.
        histograms: By name of the histogram and value.
        examples: By step and reason, at most `MAX_EXAMPLES`.
        samples: By name of the sample, at most `SAMPLED_DOCUMENTS`.

    Example:

    >>> tally = Tally()
    >>> tally.add(Flow("length", "docs", IN), size=7)
    >>> merge_tallies([tally, tally]).bytes[Flow("length", "docs", IN)]
    14
    """

    def __init__(self) -> None:
        self.documents: Counter[Flow] = Counter()
        self.bytes: Counter[Flow] = Counter()
        self.words: Counter[Flow] = Counter()
        self.counts: Counter[Count] = Counter()
        self.histograms: Counter[tuple[str, int]] = Counter()
        self.examples: dict[tuple[str, str], list[Example]] = {}
        self.samples: dict[str, list[Sampled]] = {}

    def add(self, flow: Flow, size: int, words: int = 0) -> None:
        """Counts one document of `size` bytes; a record that cannot be read has no words."""
        self.documents[flow] += 1
        self.bytes[flow] += size
        self.words[flow] += words

    def add_example(self, step: str, reason: str, example: Example) -> None:
        """Keeps the example if its id is among the smallest of its step and reason."""
        kept = self.examples.setdefault((step, reason), [])
        if len(kept) < MAX_EXAMPLES or example < kept[-1]:
            kept[:] = heapq.nsmallest(MAX_EXAMPLES, {*kept, example})

    def add_sample(self, name: str, sampled: Iterable[Sampled]) -> None:
        """Keeps, of what is sampled under a name, that of the smallest ids."""
        kept = self.samples.get(name, [])
        self.samples[name] = heapq.nsmallest(SAMPLED_DOCUMENTS, [*kept, *sampled])

    def merge(self, other: "Tally") -> None:
        """Adds the counts of another tally."""
        self.documents.update(other.documents)
        self.bytes.update(other.bytes)
        self.words.update(other.words)
        self.counts.update(other.counts)
        self.histograms.update(other.histograms)
        for (step, reason), examples in other.examples.items():
            for example in examples:
                self.add_example(step, reason, example)
        for name, sampled in other.samples.items():
            self.add_sample(name, sampled)

    def named(self, step: str) -> "Tally":
        """Returns these counts with the step's name before those of its histograms, which others have too."""
        named = merge_tallies([self])
        named.histograms = Counter(
            {(f"{step}.{name}", n): count for (name, n), count in self.histograms.items()}
        )
        return named

    def total(self, step: str, source: str, outcome: str) -> int:
        """Returns the documents of a source that had an outcome in a step, whatever the reason."""
        return sum(
            count
            for flow, count in self.documents.items()
            if (flow.step, flow.source, flow.outcome) == (step, source, outcome)
        )

    def check(self, steps: Iterable[str]) -> None:
        """Checks that in = kept + dropped + rejected, and that what a step kept came into the next.

        Raises:
            CountMismatchError: naming step, source and numbers.
        """
        for source in sorted({flow.source for flow in self.documents}):
            before = None
            for step in steps:
                came, *went = (self.total(step, source, outcome) for outcome in (IN, KEPT, DROPPED, REJECTED))
                if came != sum(went) or came != (came if before is None else before):
                    raise CountMismatchError(
                        f"step {step!r}, source {source!r}: {before} kept before, {came} in, "
                        f"but {went[0]} kept + {went[1]} dropped + {went[2]} rejected"
                    )
                before = went[0]


def merge_tallies(tallies: Iterable[Tally]) -> Tally:
    """Returns the sum of tallies."""
    merged = Tally()
    for tally in tallies:
        merged.merge(tally)
    return merged
