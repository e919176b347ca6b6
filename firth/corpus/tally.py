"""What happened to the documents of a corpus, counted so that it must add up."""

import heapq
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from firth.corpus.errors import CountMismatchError

IN, KEPT, DROPPED, REJECTED = "in", "kept", "dropped", "rejected"
MAX_EXAMPLES = 3


class Flow(NamedTuple):
    """One line of the account: in `step`, documents of `source` had this `outcome` for this `reason`."""

    step: str
    source: str
    outcome: str
    reason: str = ""


class Count(NamedTuple):
    """Something beside documents that a step counts, such as the lines that it cut for one rule."""

    step: str
    source: str
    name: str


class Example(NamedTuple):
    """A dropped document in short. Those with the smallest ids are shown, so workers do not matter."""

    id: str
    source: str
    uri: str
    excerpt: str


class Tally:
    """Counts that are made in parts, on many workers, and merged.

    Attributes:
        documents, bytes: By `Flow`.
        counts: By `Count`.
        histograms: By name of the histogram and value.
        examples: By step and reason, at most `MAX_EXAMPLES`.

    Example:

    >>> tally = Tally()
    >>> tally.add(Flow("length", "docs", IN), size=7)
    >>> merge_tallies([tally, tally]).bytes[Flow("length", "docs", IN)]
    14
    """

    def __init__(self) -> None:
        self.documents: Counter[Flow] = Counter()
        self.bytes: Counter[Flow] = Counter()
        self.counts: Counter[Count] = Counter()
        self.histograms: Counter[tuple[str, int]] = Counter()
        self.examples: dict[tuple[str, str], list[Example]] = {}

    def add(self, flow: Flow, size: int) -> None:
        """Counts one document of `size` bytes."""
        self.documents[flow] += 1
        self.bytes[flow] += size

    def add_example(self, step: str, reason: str, example: Example) -> None:
        """Keeps the example if its id is among the smallest of its step and reason."""
        kept = self.examples.setdefault((step, reason), [])
        if len(kept) < MAX_EXAMPLES or example < kept[-1]:
            kept[:] = heapq.nsmallest(MAX_EXAMPLES, {*kept, example})

    def merge(self, other: "Tally") -> None:
        """Adds the counts of another tally."""
        self.documents.update(other.documents)
        self.bytes.update(other.bytes)
        self.counts.update(other.counts)
        self.histograms.update(other.histograms)
        for (step, reason), examples in other.examples.items():
            for example in examples:
                self.add_example(step, reason, example)

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
