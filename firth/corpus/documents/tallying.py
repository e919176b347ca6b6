"""A base for Beam functions that count what they do."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.tally import Tally

TALLY = "tally"


class Tallying(beam.DoFn):
    """A DoFn that emits one `Tally` for each bundle of elements, on the output `TALLY`.

    One tally for each element would amount to as much data as the corpus itself, which the runner would hold.

    Attributes:
        tally: Counts of the current bundle so far.
    """

    def start_bundle(self) -> None:  # noqa: D102
        self.tally = Tally()

    def finish_bundle(self) -> Iterator[Any]:  # noqa: D102
        yield TaggedOutput(TALLY, GlobalWindows.windowed_value(self.tally))
