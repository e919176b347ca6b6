"""Application of the cleaning steps to a corpus, on Beam."""

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.typehints.decorators import no_annotations

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import DROPPED, IN, KEPT, CorpusCounts, Count, DroppedExample, Flow
from firth.corpus.documents.counting_fn import CORPUS_COUNTS, CountingFn
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import (
    IN_RUNNER,
    CorpusStep,
    Decision,
    DocumentStep,
    Drop,
    Grouping,
    Keep,
    Setting,
)
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.privacy.excerpts import RAW_EXCERPT_CHARACTERS
from firth.recipes.corpus.cleaning import Step, step_names


class Clean(beam.PTransform):
    """Applies steps in order: lists of documents to (lists of documents, collections of counts).

    Every document is counted as in, and as kept or dropped, in each step that it reaches.

    Args:
        steps: The steps of the recipe.
        sources: Names of the sources, in the order of the recipe.
        folder: Folder of the report, to which steps write their own tables.
        grouping: Settings that steps on the whole corpus use to bring documents of the same key together.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        sources: Sequence[str] = (),
        folder: str = "",
        grouping: Grouping = IN_RUNNER,
    ) -> None:
        super().__init__()
        self._steps = tuple(steps)
        self._sources = tuple(sources)
        self._folder = folder
        self._grouping = grouping

    # Beam would warn that a list of collections is not a type that it knows.
    @no_annotations
    def expand(  # noqa: D102
        self, documents: PCollection[list[Document]]
    ) -> tuple[PCollection[list[Document]], list[PCollection[CorpusCounts]]]:
        partial_totals = []
        for name, config in zip(step_names(self._steps), self._steps):
            step = STEPS[config.kind](config)
            if isinstance(step, CorpusStep):
                decide_all = _DecideAll(step, Setting(name, self._sources, self._folder, self._grouping))
                decided, totals = documents | f"{name}.DecideAll" >> decide_all
                decided.element_type = Unmeasured
                partial_totals.append(totals | f"{name}.Name" >> beam.Map(CorpusCounts.named, name))
                count = beam.ParDo(_Count(name))
            else:
                decided, count = documents, beam.ParDo(_Decide(name, step))
            outputs = decided | f"{name}.Count" >> count.with_outputs(CORPUS_COUNTS, main="kept")
            documents = outputs.kept
            partial_totals.append(outputs[CORPUS_COUNTS])
        return documents, partial_totals


class _DecideAll(beam.PTransform):
    def __init__(self, step: CorpusStep, setting: Setting) -> None:
        super().__init__()
        self._step = step
        self._setting = setting

    @no_annotations
    def expand(self, documents: Documents) -> Decisions:
        return self._step.decide_all(documents, self._setting)


@beam.typehints.with_output_types(list[Document])
class _Count(CountingFn):
    def __init__(self, name: str) -> None:
        self._name = name

    def process(self, decided: Any) -> Iterator[Any]:
        yield [decision.document for each in decided if (decision := self._count(*each))]

    def _count(self, document: Document, decision: Decision) -> Keep | None:
        totals, name, source = self.totals, self._name, document.source
        totals.add(Flow(name, source, IN), document.size, document.words)
        if isinstance(decision, Drop):
            totals.add(Flow(name, source, DROPPED, decision.reason), document.size, document.words)
            totals.add_example(name, decision.reason, _example(document))
            return None
        kept = decision.document
        totals.add(Flow(name, source, KEPT), kept.size, kept.words)
        for what, count in decision.counts.items():
            totals.counts[Count(name, source, what)] += count
        return decision


@beam.typehints.with_output_types(list[Document])
class _Decide(_Count):
    def __init__(self, name: str, step: DocumentStep) -> None:
        super().__init__(name)
        self._step = step

    def process(self, documents: Any) -> Iterator[Any]:
        return super().process((document, self._step.decide(document)) for document in documents)


def _example(document: Document) -> DroppedExample:
    return DroppedExample(document.id, document.source, document.uri, document.text[:RAW_EXCERPT_CHARACTERS])
