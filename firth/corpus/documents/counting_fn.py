"""A base for Beam functions that count what they do."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.corpus_counts import CorpusCounts

CORPUS_COUNTS = "totals"


class CountingFn(beam.DoFn):
    """A DoFn that emits one `CorpusCounts` for each bundle of elements, on the output `CORPUS_COUNTS`.

    One for each element would amount to as much data as the corpus itself, which the runner would hold.

    Attributes:
        totals: Counts of the current bundle so far.
    """

    def start_bundle(self) -> None:  # noqa: D102
        self.totals = CorpusCounts()

    def finish_bundle(self) -> Iterator[Any]:  # noqa: D102
        yield TaggedOutput(CORPUS_COUNTS, GlobalWindows.windowed_value(self.totals))
