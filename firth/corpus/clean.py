"""Cleaning steps over a corpus, in Beam."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection, TaggedOutput

from firth.corpus.document import Document
from firth.corpus.hashing import hash63
from firth.corpus.records import pickle_list, unpickle_list
from firth.corpus.report import CLUSTER_HISTOGRAM
from firth.corpus.step_table import STEPS
from firth.corpus.steps import Decision, DocumentStep, GroupStep, Keep
from firth.corpus.tally import DROPPED, IN, KEPT, Count, Example, Flow, Tally
from firth.recipes.cleaning import Step

EXCERPT_CHARACTERS = 160
# A bucket's documents are held in memory together; few buckets make few elements.
BUCKETS = 128


def step_names(steps: Sequence[Step]) -> list[str]:
    """Returns a name for each step: its kind, numbered where the kind occurs again.

    Example:

    >>> from firth.recipes.cleaning import LengthStep
    >>> step_names([LengthStep(kind="length"), LengthStep(kind="length")])
    ['length', 'length_2']
    """
    kinds = [step.kind for step in steps]
    counts = [kinds[: i + 1].count(kind) for i, kind in enumerate(kinds)]
    return [kind if count == 1 else f"{kind}_{count}" for kind, count in zip(kinds, counts)]


class Clean(beam.PTransform):
    """Applies steps in order: lists of documents to (lists of documents, tallies).

    Every document counts as in and as kept or dropped in each step that it reaches.
    """

    def __init__(self, steps: Sequence[Step]):
        super().__init__()
        self._steps = tuple(steps)

    def expand(  # noqa: D102
        self, documents: PCollection[list[Document]]
    ) -> tuple[PCollection[list[Document]], list[PCollection[Tally]]]:
        tallies = []
        for name, config in zip(step_names(self._steps), self._steps):
            step = STEPS[config.kind](config)
            if isinstance(step, GroupStep):
                documents = documents | f"{name}.Group" >> _GroupByBucket(step)
            decide = beam.ParDo(_Apply(name, step)).with_outputs("tally", main="kept")
            outputs = documents | f"{name}.Decide" >> decide
            documents = outputs.kept
            tallies.append(outputs.tally)
        return documents, tallies


class _GroupByBucket(beam.PTransform):
    """Brings documents of one key into one list, along with those of other keys of the bucket."""

    def __init__(self, step: GroupStep):
        super().__init__()
        self._step = step

    def expand(self, documents):
        return (
            documents
            | "Bucket" >> beam.FlatMap(_by_bucket, self._step)
            | "GroupByKey" >> beam.GroupByKey()
            | "Join" >> beam.Map(_join)
        )


def _by_bucket(documents: list[Document], step: GroupStep) -> Iterator[tuple[int, bytes]]:
    buckets = defaultdict(list)
    for document in documents:
        buckets[hash63(step.key(document)) % BUCKETS].append(document)
    for bucket, members in buckets.items():
        yield bucket, pickle_list(members)


def _join(element: tuple[int, Iterable[bytes]]) -> list[Document]:
    return [document for pickled in element[1] for document in unpickle_list(pickled)]


@beam.typehints.with_output_types(list[Document])
class _Apply(beam.DoFn):
    def __init__(self, name: str, step: DocumentStep | GroupStep):
        self._name = name
        self._step = step

    def process(self, documents: list[Document]) -> Iterator[Any]:
        tally, kept = Tally(), []
        for document, decision in self._decisions(documents, tally):
            tally.add(Flow(self._name, document.source, IN), document.size)
            if isinstance(decision, Keep):
                tally.add(Flow(self._name, document.source, KEPT), decision.document.size)
                kept.append(decision.document)
                for what, count in decision.counts.items():
                    tally.counts[Count(self._name, document.source, what)] += count
            else:
                tally.add(Flow(self._name, document.source, DROPPED, decision.reason), document.size)
                tally.add_example(self._name, decision.reason, _example(document))
        yield kept
        yield TaggedOutput("tally", tally)

    def _decisions(self, documents: list[Document], tally: Tally) -> Iterable[tuple[Document, Decision]]:
        if isinstance(self._step, DocumentStep):
            return ((document, self._step.decide(document)) for document in documents)
        groups = defaultdict(list)
        for document in documents:
            groups[self._step.key(document)].append(document)
        tally.histograms.update(
            (CLUSTER_HISTOGRAM, len(group)) for group in groups.values() if len(group) > 1
        )
        return (pair for group in groups.values() for pair in zip(group, self._step.decide_group(group)))


def _example(document: Document) -> Example:
    return Example(document.id, document.source, document.uri, document.text[:EXCERPT_CHARACTERS])
