"""Application of the cleaning steps to a corpus, on Beam."""

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import DROPPED, IN, KEPT, CorpusCounts, Count, DroppedExample, Flow
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import (
    CORPUS_COUNTS,
    IN_RUNNER,
    CorpusStep,
    CountingFn,
    Decision,
    DocumentStep,
    Drop,
    Grouping,
    Keep,
    Setting,
)
from firth.corpus.privacy.excerpts import RAW_EXCERPT_CHARACTERS
from firth.corpus.privacy.pii import Pii
from firth.corpus.readers.dropped_documents import DROPPED_FOLDER, DroppedDocument, WriteDropped, dropped_row
from firth.corpus.report.domains import count_domain
from firth.recipes.corpus.cleaning import Step, step_names

# The beginning of the name of a count of documents that a step would drop, where `measure` is `only`.
WOULD_DROP = "would drop: "
Decided = list[tuple[Document, Decision]]


@beam.ptransform_fn
def Clean(
    documents: PCollection[list[Document]],
    steps: Sequence[Step],
    sources: Sequence[str] = (),
    folder: str = "",
    grouping: Grouping = IN_RUNNER,
    scrubber: Pii | None = None,
    measure: str = "none",
    done: int = 0,
    already_dropped: PCollection[list[DroppedDocument]] | None = None,
) -> tuple[PCollection[list[Document]], list[PCollection[CorpusCounts]]]:
    """Applies steps in order: lists of documents to (lists of documents, collections of counts).

    Every document is counted as in, and as kept or dropped, in each step that it reaches. The first `done`
    steps are left out: `CleanFiles` has applied them, and dropped the documents of `already_dropped`.
    """
    partial_totals, dropped = [], [] if already_dropped is None else [already_dropped]
    for name, config in [*zip(step_names(steps), steps)][done:]:
        step = STEPS[config.kind](config)
        if isinstance(step, CorpusStep):
            setting = Setting(name, tuple(sources), folder, grouping, measures=measure != "none")
            decide_all = beam.ptransform_fn(step.decide_all)(setting)
            decided, totals = documents | f"{name}.DecideAll" >> decide_all
            decided.element_type = Unmeasured
            partial_totals.append(totals | f"{name}.Name" >> beam.Map(CorpusCounts.named, name))
        else:
            decided = documents | f"{name}.Decide" >> beam.Map(decide, step).with_output_types(Unmeasured)
            if measure != "none":
                measured = beam.ParDo(MeasureValues(step)).with_outputs(CORPUS_COUNTS)
                totals = (documents | f"{name}.Measure" >> measured)[CORPUS_COUNTS]
                partial_totals.append(totals | f"{name}.Name" >> beam.Map(CorpusCounts.named, name))
        counting = CountDecisions(name, scrubber is not None, measure == "only", config.adds_metadata)
        count = beam.ParDo(counting).with_outputs(CORPUS_COUNTS, DROPPED, main="kept")
        outputs = decided | f"{name}.Count" >> count
        documents = outputs.kept
        partial_totals.append(outputs[CORPUS_COUNTS])
        dropped.append(outputs[DROPPED])
    if scrubber and dropped:
        write = WriteDropped(f"{folder}/{DROPPED_FOLDER}", grouping.groups, scrubber)
        _ = dropped | "Dropped" >> beam.Flatten() | "WriteDropped" >> write
    return documents, partial_totals


@beam.typehints.with_output_types(list[Document])
class CountDecisions(CountingFn):
    """Counts the documents that a step keeps and drops, and emits those that it keeps."""

    def __init__(self, name: str, lists_dropped: bool, keeps_all: bool, adds_metadata: bool) -> None:
        self._name = name
        self._adds_metadata = adds_metadata
        self._keeps_all = keeps_all
        self._lists_dropped = lists_dropped

    def process(self, decided: Any) -> Iterator[Any]:  # noqa: D102
        kept, rows = self.count(decided)
        yield kept
        if self._lists_dropped:
            yield TaggedOutput(DROPPED, rows)

    def count(self, decided: Decided) -> tuple[list[Document], list[DroppedDocument]]:
        """Returns the documents that are kept, and rows of the others if they are listed."""
        if self._keeps_all:
            decided = [(document, self._kept(document, decision)) for document, decision in decided]
        kept = [self._described(decision) for each in decided if (decision := self._count(*each))]
        if not self._lists_dropped:
            return kept, []
        return kept, [dropped_row(each, self._name, how) for each, how in decided if isinstance(how, Drop)]

    def _described(self, decision: Keep) -> Document:
        if not self._adds_metadata:
            return decision.document
        values = {f"{self._name}.{key}": value for key, value in decision.metadata.items()}
        return decision.document.with_metadata(values)

    def _kept(self, document: Document, decision: Decision) -> Keep:
        if isinstance(decision, Drop):
            return Keep(document, {f"{WOULD_DROP}{decision.reason}": 1})
        return decision

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


class MeasureValues(CountingFn):
    """Counts the values of documents that a step measures, each to two digits. It emits only the counts."""

    def __init__(self, step: DocumentStep) -> None:
        self._step = step

    def process(self, documents: list[Document]) -> None:  # noqa: D102
        for document in documents:
            for name, value in self._step.measures(document).items():
                self.totals.measure(name, value)


def decide(documents: list[Document], step: DocumentStep) -> Decided:
    """Returns the decision of a step about each document."""
    return [(document, step.decide(document)) for document in documents]
