"""Cleaning of a corpus file by file, up to the first step that compares documents.

The results of each file are kept until the corpus is cleaned: a run after a kill continues with the others.
"""

import itertools
import json
import pickle
from collections.abc import Callable, Collection, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import DoOutputsTuple, TaggedOutput

from firth import storage
from firth.corpus.curation.clean import CountDecisions, MeasureValues, decide
from firth.corpus.curation.step_table import STEPS, files_digest
from firth.corpus.documents.coders import as_row
from firth.corpus.documents.corpus_counts import DROPPED, IN, CorpusCounts, Count, Flow, SampledDocument
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
from firth.corpus.documents.steps import CORPUS_COUNTS, CountingFn, DocumentStep
from firth.corpus.filters.language import language_sample
from firth.corpus.io.content_digests import content_digest
from firth.corpus.io.records import (
    Patterns,
    read_batches,
    read_records,
    record_files,
    record_path,
    writing_records,
)
from firth.corpus.report.corpus_report import LICENCE_STEP, length_bin
from firth.corpus.report.domains import count_domain
from firth.recipes.corpus.cleaning import Cleaning, step_names
from firth.version import __version__

STATED, _DOCUMENTS = "stated", "documents"
_OF_DOCUMENTS = (STATED, _DOCUMENTS)
# Number of files whose results an earlier run has left.
CONTINUED = Count("continued", "", "files")
# The language of a sampled document is identified by so many characters.
SAMPLED_CHARACTERS = 500
# Bump when steps or counts change.
_FORMAT = 1


def first_steps(cleaning: Cleaning) -> Cleaning:
    """Returns the cleaning with those steps alone that come before the first one that compares documents."""
    kinds: dict[str, Any] = {**STEPS}
    steps = itertools.takewhile(lambda step: issubclass(kinds[step.kind], DocumentStep), cleaning.steps)
    return cleaning.without_limits().model_copy(update={"steps": tuple(steps)})


@beam.ptransform_fn
def CleanFiles(
    pipeline: beam.Pipeline, patterns: Patterns, cleaning: Cleaning, stating: Collection[str], folder: str
) -> DoOutputsTuple:
    """Reads documents and applies `first_steps`: TFRecord files to documents, dropped rows and counts.

    The output `stated` has the ids of the documents as they are read, and no texts.

    Args:
        pipeline: The pipeline.
        patterns: Path patterns of the files.
        cleaning: The cleaning of the recipe.
        stating: Names of the sources whose records state ids; other documents are not among `stated`.
        folder: Folder of the results of each file, of this run and of one that was interrupted. Those of
            another cleaning are removed. If it is empty, nothing is kept.
    """
    paths = [path for path, _ in record_files(patterns)]
    if not paths:
        raise OSError(f"no file matches {patterns!r}")
    clean = beam.ParDo(CleanFile(cleaning, stating, folder))
    return (
        pipeline
        | "Paths" >> beam.Create(paths)
        | "Spread" >> beam.Reshuffle()
        | "Clean" >> clean.with_outputs(CORPUS_COUNTS, DROPPED, STATED, main=_DOCUMENTS)
    )


@beam.typehints.with_output_types(list[Document])
class CleanFile(CountingFn):
    """Applies the first steps of a cleaning to a file of documents, or reads its results of an earlier run.

    Args:
        cleaning: The cleaning of the recipe.
        stating: Names of the sources whose records state ids.
        folder: Folder of the results, or "".
    """

    def __init__(self, cleaning: Cleaning, stating: Collection[str] = (), folder: str = "") -> None:
        of_first = first_steps(cleaning)
        measures = cleaning.measure != "none"
        self._stating = frozenset(stating)
        self._lists_dropped = cleaning.list_dropped
        self._steps = []
        for name, config in zip(step_names(of_first.steps), of_first.steps):
            step: Any = STEPS[config.kind](config)
            count = CountDecisions(
                name, self._lists_dropped, cleaning.measure == "only", config.adds_metadata
            )
            self._steps.append((name, step, count, MeasureValues(step) if measures else None))
        self._folder, self._earlier = "", frozenset[str]()
        if folder:
            described = [__version__, _FORMAT, of_first.to_json(), files_digest(of_first), sorted(stating)]
            own = digest(json.dumps(described)).hex()
            for other in {*storage.list_folder(folder)} - {own}:
                storage.remove(f"{folder}/{other}")
            self._folder = f"{folder}/{own}"
            self._earlier = frozenset(storage.list_folder(self._folder))

    def process(self, path: str) -> Iterator[Any]:  # noqa: D102
        if not self._folder:
            yield from self._emit(self._clean(path))
            return
        name = content_digest(path).hex()
        result = record_path(self._folder, name)
        if storage.exists(result):
            self.totals.counts[CONTINUED] += result.rpartition("/")[2] in self._earlier
            yield from self._emit(map(_read, read_records(result)))
        else:
            with writing_records(self._folder, name) as write:
                yield from self._emit(_written(self._clean(path), write))

    def _emit(self, results: Iterator[tuple[str, Any]]) -> Iterator[Any]:
        for kind, value in results:
            if kind == CORPUS_COUNTS:
                self.totals.merge(value)
                self.totals.domains.update(value.domains)
            else:
                yield value if kind == _DOCUMENTS else TaggedOutput(kind, value)

    def _clean(self, path: str) -> Iterator[tuple[str, Any]]:
        totals = CorpusCounts()
        counting = [each for _, _, *both in self._steps for each in both if each]
        for each in counting:
            each.start_bundle()
        for records in read_batches(path):
            documents = [Document.from_example(record) for record in records]
            _measure_read(documents, totals)
            ids = [
                Document(each.id, "", each.source, "", each.uri)
                for each in documents
                if each.source in self._stating
            ]
            yield STATED, ids
            rows = []
            for _, step, count, measuring in self._steps:
                if measuring:
                    measuring.process(documents)
                documents, dropped = count.count(decide(documents, step))
                rows += dropped
            if self._lists_dropped:
                yield DROPPED, rows
            yield _DOCUMENTS, documents
        for name, _, count, measuring in self._steps:
            for part in (count.totals, measuring.totals.named(name) if measuring else CorpusCounts()):
                totals.merge(part)
                totals.domains.update(part.domains)
        yield CORPUS_COUNTS, totals


def _written(results: Iterator[tuple[str, Any]], write: Callable[[bytes], None]) -> Iterator[tuple[str, Any]]:
    for kind, value in results:
        rows = [as_row(each) for each in value] if kind in _OF_DOCUMENTS else value
        write(pickle.dumps((kind, rows), pickle.HIGHEST_PROTOCOL))
        yield kind, value


def _read(record: bytes) -> tuple[str, Any]:
    kind, value = pickle.loads(record)
    return kind, [Document(*row) for row in value] if kind in _OF_DOCUMENTS else value


def _measure_read(documents: list[Document], totals: CorpusCounts) -> None:
    measure(documents, "read", totals)
    for document in documents:
        flow = Flow(LICENCE_STEP, document.source, IN, document.licence)
        totals.add(flow, document.size, document.words)
        count_domain(totals, document, IN)


def measure(documents: list[Document], stage: str, totals: CorpusCounts) -> None:
    """Adds the lengths of documents, and a sample of them for their languages, to the totals of a stage."""
    for document in documents:
        totals.histograms[f"{stage}_words", length_bin(document.words)] += 1
        totals.histograms[f"{stage}_characters", length_bin(len(document.text))] += 1
    totals.add_sample(
        stage,
        (SampledDocument(each.id, language_sample(each.text, SAMPLED_CHARACTERS)) for each in documents),
    )
