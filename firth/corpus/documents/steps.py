"""The interfaces of cleaning steps, which keep a document or drop it with a reason."""

import abc
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import apache_beam as beam
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.transforms.window import GlobalWindows

from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document

ConfigT = TypeVar("ConfigT")
CORPUS_COUNTS = "totals"


@dataclasses.dataclass(frozen=True)
class Keep:
    """The decision that a document is kept, changed or unchanged.

    Attributes:
        document: The document after the step.
        counts: Changes that the step made, by name, such as the number of lines cut by one of its rules.
        metadata: Values about the document, by name, which `DescribingStep.add_metadata` adds to it.
    """

    document: Document
    counts: Mapping[str, int] = dataclasses.field(default_factory=dict, repr=False)
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Drop:
    """The decision that a document is dropped.

    Attributes:
        reason: One of the step's `reasons`, by which dropped documents are counted.
        match: Id of the document that was kept instead, for a duplicate.
    """

    reason: str
    match: str = dataclasses.field(default="", repr=False)


Decision = Keep | Drop


class _Configured(abc.ABC, Generic[ConfigT]):
    reasons: frozenset[str] = frozenset()

    def __init__(self, config: ConfigT) -> None:
        self._config = config


class DocumentStep(_Configured[ConfigT]):
    """A step that decides about each document on its own.

    Attributes:
        reasons: Every reason for which the step may drop a document.
        changes_text: True if the step may change a document that it keeps.
        idempotent: True if running the step again on its own output changes nothing.
    """

    changes_text: bool = False
    idempotent: bool = True

    def measures(self, document: Document) -> Mapping[str, float]:
        """Returns the values of a document that the step compares with its thresholds; empty by default."""
        return {}

    @abc.abstractmethod
    def decide(self, document: Document) -> Decision:
        """Returns the decision about one document."""


class Grouping(NamedTuple):
    """Settings for bringing values of the same key together.

    Attributes:
        groups: Number of groups. The result does not depend on it.
        scratch: Folder that all workers can read and write. If it is empty, the values go through Beam's
            runner.
    """

    groups: int = 1
    scratch: str = ""


IN_RUNNER = Grouping()


@dataclasses.dataclass(frozen=True)
class Setting:
    """Settings of a corpus step.

    Attributes:
        name: Name of the step in the report.
        sources: Names of the sources, in the order of the recipe.
        folder: Folder of the report, to which the step writes its own tables.
        grouping: Settings for bringing rows and documents of the same key together.
        measures: True if the step counts documents by the values that it compares with its thresholds.
    """

    name: str
    sources: tuple[str, ...] = ()
    folder: str = ""
    grouping: Grouping = IN_RUNNER
    measures: bool = False


class CorpusStep(_Configured[ConfigT]):
    """A step that decides about documents in view of the whole corpus, on Beam.

    Attributes:
        reasons: Every reason for which the step may drop a document.
    """

    @abc.abstractmethod
    def decide_all(
        self, documents: PCollection[list[Document]], setting: Setting
    ) -> tuple[PCollection[list[tuple[Document, Decision]]], PCollection[CorpusCounts]]:
        """Returns a decision about each document, and the step's other counts.

        The result may not depend on the order of the documents, on their batches or on the number of workers.
        """


Step = DocumentStep[Any] | CorpusStep[Any]


StepFactory = Callable[[Any], Step]


class CountingFn(beam.DoFn):
    """A DoFn that emits one `CorpusCounts` for each bundle of elements, on the output `CORPUS_COUNTS`.

    One for each element would be as much data as the corpus itself, which the runner would hold.

    Attributes:
        totals: Counts of the current bundle so far.
    """

    def start_bundle(self) -> None:  # noqa: D102
        self.totals = CorpusCounts()

    def finish_bundle(self) -> Iterator[Any]:  # noqa: D102
        yield TaggedOutput(CORPUS_COUNTS, GlobalWindows.windowed_value(self.totals))
