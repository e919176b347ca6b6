"""Application of the cleaning steps to a corpus, on Beam."""

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection

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
from firth.corpus.privacy.excerpts import RAW_EXCERPT_CHARACTERS
from firth.corpus.report.domains import count_domain
from firth.recipes.corpus.cleaning import Step, step_names


@beam.ptransform_fn
def Clean(
    documents: PCollection[list[Document]],
    steps: Sequence[Step],
    sources: Sequence[str] = (),
    folder: str = "",
    grouping: Grouping = IN_RUNNER,
) -> tuple[PCollection[list[Document]], list[PCollection[CorpusCounts]]]:
    """Applies steps in order: lists of documents to (lists of documents, collections of counts).

    Every document is counted as in, and as kept or dropped, in each step that it reaches.

    Args:
        documents: Lists of documents.
        steps: The steps of the recipe.
        sources: Names of the sources, in the order of the recipe.
        folder: Folder of the report, to which steps write their own tables.
        grouping: Settings that steps on the whole corpus use to bring documents of the same key together.
    """
    partial_totals = []
    for name, config in zip(step_names(steps), steps):
        step = STEPS[config.kind](config)
        if isinstance(step, CorpusStep):
            decide_all = beam.ptransform_fn(step.decide_all)(Setting(name, tuple(sources), folder, grouping))
            decided, totals = documents | f"{name}.DecideAll" >> decide_all
            decided.element_type = Unmeasured
            partial_totals.append(totals | f"{name}.Name" >> beam.Map(CorpusCounts.named, name))
        else:
            decided = documents | f"{name}.Decide" >> beam.Map(_decide, step).with_output_types(Unmeasured)
        count = beam.ParDo(_Count(name)).with_outputs(CORPUS_COUNTS, main="kept")
        outputs = decided | f"{name}.Count" >> count
        documents = outputs.kept
        partial_totals.append(outputs[CORPUS_COUNTS])
    return documents, partial_totals


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
            excerpt = document.text[:RAW_EXCERPT_CHARACTERS]
            example = DroppedExample(document.id, source, document.uri, excerpt)
            totals.add_example(name, decision.reason, example)
            count_domain(totals, document, DROPPED, f"{name}: {decision.reason}")
            return None
        kept = decision.document
        totals.add(Flow(name, source, KEPT), kept.size, kept.words)
        for what, count in decision.counts.items():
            totals.counts[Count(name, source, what)] += count
        return decision


def _decide(documents: list[Document], step: DocumentStep) -> list[tuple[Document, Decision]]:
    return [(document, step.decide(document)) for document in documents]
