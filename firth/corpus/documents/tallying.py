"""Counting in Beam."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.tally import Tally

TALLY = "tally"


class Tallying(beam.DoFn):
    """A function that counts: of each bundle of elements there is one `tally`, on the output of that name.

    A tally an element would be as much as a corpus, and the runner would hold it.

    Attributes:
        tally: Of the bundle so far.
    """

    def start_bundle(self) -> None:  # noqa: D102
        self.tally = Tally()

    def finish_bundle(self) -> Iterator[Any]:  # noqa: D102
        yield TaggedOutput(TALLY, GlobalWindows.windowed_value(self.tally))
