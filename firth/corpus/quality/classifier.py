"""The step that drops documents of a crawl that do not resemble a reference."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton, PCollection, TaggedOutput

from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.corpus_counts import CorpusCounts, sum_counters
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError, SourceError
from firth.corpus.documents.hashing import hash63, unit_hash
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents, SpillDocuments, grouped_documents
from firth.corpus.grouping.tables import Group
from firth.corpus.io.source_files import SourceFile
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.quality.quality_model import (
    SIDES,
    Examples,
    Hashing,
    QualityModel,
    hash_ngrams,
    join_examples,
    save_quality_model,
    train,
)
from firth.corpus.quality.scoring import ScoreCounts, count_score, measured_scores, score_histogram
from firth.corpus.readers.sources import list_files, read_file
from firth.recipes.corpus.classifiers import ClassifierStep
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import AnySource
from firth.storage import write_json

CRAWL, REFERENCE = range(len(SIDES))
Trained = tuple[QualityModel, dict[str, Any]]
DOCUMENTS_A_BATCH = 1000


class HashSample(NamedTuple):
    """A sample of documents, as the range of their hashes.

    Attributes:
        seen: Number of documents from which the sample was taken.
        hashes: uint64 [sample], the smallest hashes of all documents, ascending, each once.
    """

    seen: int
    hashes: np.ndarray

    def has(self, hashes: np.ndarray) -> np.ndarray:
        """Returns whether documents belong to the sample.

        Args:
            hashes: uint64 [documents], the hashes of documents from which the sample was taken.

        Returns:
            bool [documents].
        """
        return hashes <= self.hashes[-1] if len(self.hashes) else np.zeros(len(hashes), bool)


def sample_hashes(ids: Iterable[str], seed: int) -> np.ndarray:
    """Returns the hashes of ids by which a sample is taken: uint64 [ids]."""
    return np.array([hash63("sample", str(seed), id) for id in ids], np.uint64)


def sample_of(hashes: np.ndarray, size: int) -> HashSample:
    """Returns the sample of the documents with the smallest hashes.

    Args:
        hashes: uint64 [documents], from `sample_hashes`.

    Example:

    >>> sample = join_samples([sample_of(np.array([9, 3, 7], np.uint64), 2), sample_of(np.array([5]), 2)], 2)
    >>> sample.seen, sample.hashes.tolist()
    (4, [3, 5])
    """
    return HashSample(len(hashes), np.unique(hashes)[:size])


def join_samples(samples: Iterable[HashSample], size: int) -> HashSample:
    """Returns the sample of all documents from which the samples were taken, in any order and grouping."""
    parts = list(samples)
    hashes = np.concatenate([np.zeros(0, np.uint64), *(each.hashes for each in parts)])
    return HashSample(sum(each.seen for each in parts), np.unique(hashes)[:size].astype(np.uint64))


class Classifier(CorpusStep[ClassifierStep]):
    """Drops documents of the crawl, for the reason `low_score`, by a classifier that it first trains.

    The method is that of GPT-3 (Brown et al. 2020, arXiv:2005.14165, appendix A); `ClassifierStep` describes
    it. Documents of the reference never count as crawl. Those in the corpus are kept without a decision, as
    GPT-3 added its reference corpora whole. The report's `counts` have their number as `reference`, and the
    number of documents that belong to neither as `other_source`. Copies of one document may be trained on and
    measured on, which makes the measures better than they should be, so duplicates should be removed before
    this step.

    The step writes the model to a folder of the step's name in the folder of the report
    (`save_quality_model`); the Curator makes an artifact of it. It also writes `<step>.json`: `reference` and
    `crawl`, each with the number of `documents`; the measures of `train`; `keep`, `alpha` and `threshold`;
    and under `scores` the result of `score_histogram`.

    A worker holds one batch of the corpus. The worker that trains holds at most `max_documents` of each
    class, in hashed form.

    Raises:
        SourceError: on construction of the pipeline, if a reference has no file; on a worker, if one cannot
            be read.
        CorpusError: on a worker, if the reference or the crawl has fewer than two documents.
    """

    reasons = frozenset({"low_score"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        config = self._config
        everything: tuple[Documents, ...] = (documents,)
        if config.reference_files:
            files = documents.pipeline | "ReadReference" >> ReadReference(config.reference_files)
            everything = (documents, files)
        # Documents are kept in files until the samples, and later the model, are known.
        waiting = documents | "Spill" >> SpillDocuments(setting.grouping)
        all_waiting = (
            waiting if len(everything) == 1 else everything | "All" >> SpillDocuments(setting.grouping)
        )
        hashed = tuple(each | f"Hash[{i}]" >> beam.Map(_samples, config) for i, each in enumerate(everything))
        samples = AsSingleton(
            hashed
            | "Hashes" >> beam.Flatten()
            | "Sample" >> beam.CombineGlobally(_join, config.max_documents)
        )
        trained = (
            all_waiting
            | "Take" >> beam.FlatMap(_examples, config, samples)
            | "Gather" >> beam.combiners.ToList()
            | "Join" >> beam.Map(join_examples)
            | "Train" >> beam.Map(_train, config, setting, samples)
        )
        score = beam.FlatMap(_score, config, AsSingleton(trained)).with_outputs("scores", main="decided")
        outputs = waiting | "Score" >> score
        totals = (
            outputs.scores
            | "Sum" >> beam.CombineGlobally(sum_counters)
            | "Write" >> beam.Map(_write, config, setting, AsSingleton(trained))
        )
        return outputs.decided, totals


def side_of(source: str, config: ClassifierStep) -> int | None:
    """Returns the class of a source's documents as an index of `SIDES`, or None.

    Example:

    >>> step = ClassifierStep(kind="classifier", reference=("books",), crawl=("web",))
    >>> [side_of(source, step) for source in ("web", "books", "code")]
    [0, 1, None]
    """
    if source in config.reference or source in map(reference_name, config.reference_files):
        return REFERENCE
    return CRAWL if not config.crawl or source in config.crawl else None


def keeps(score: float, document_id: str, config: ClassifierStep) -> bool:
    """Returns whether a document of the crawl is kept.

    With `pareto`, the probability of keeping a document is (2 - score) ** -alpha.

    Example:

    >>> step = ClassifierStep(kind="classifier", reference=("books",))
    >>> sum(keeps(0.9, f"{number:x}", step) for number in range(1000)), round(1000 * 1.1**-9)
    (..., 424)
    """
    if config.keep == "threshold":
        return score >= config.threshold
    uniform = unit_hash("pareto", str(config.seed), document_id)
    return (1.0 - uniform) ** (-1.0 / config.alpha) - 1.0 > 1.0 - score


def _hashing(config: ClassifierStep) -> Hashing:
    return Hashing(config.ngram_words, config.buckets, config.max_characters)


def _samples(documents: list[Document], config: ClassifierStep) -> list[HashSample]:
    ids: list[list[str]] = [[] for _ in SIDES]
    for document in documents:
        side = side_of(document.source, config)
        if side is not None:
            ids[side].append(document.id)
    return [sample_of(sample_hashes(each, config.seed), config.max_documents) for each in ids]


def _join(parts: Iterable[list[HashSample]], size: int) -> list[HashSample]:
    by_side = list(zip(*parts)) or [()] * len(SIDES)
    return [join_samples(samples, size) for samples in by_side]


# One function reads and filters documents: if a function of its own read them, the runner would have to hold
# them until the other input is there.
def _examples(element: Group, config: ClassifierStep, samples: list[HashSample]) -> Iterator[Examples]:
    for documents in grouped_documents(element[1]):
        yield _examples_of(documents, config, samples)


def _examples_of(documents: list[Document], config: ClassifierStep, samples: list[HashSample]) -> Examples:
    hashes = sample_hashes([document.id for document in documents], config.seed)
    sides = [side_of(document.source, config) for document in documents]
    taken = [
        place
        for place, side in enumerate(sides)
        if side is not None and samples[side].has(hashes[place : place + 1])[0]
    ]
    vectors = hash_ngrams([documents[place].text for place in taken], _hashing(config))
    return Examples(hashes[taken], np.array([sides[place] for place in taken], np.int8), vectors)


def _train(
    examples: Examples, config: ClassifierStep, setting: Setting, samples: list[HashSample]
) -> Trained:
    try:
        model, measures = train(examples, _hashing(config), config.l2_penalty, config.held_out_fraction)
    except CorpusError as error:
        raise CorpusError(f"step {setting.name!r}: {error}") from error
    seen = {name: {"documents": sample.seen} for name, sample in zip(SIDES, samples)}
    description = {**seen, **measures}
    save_quality_model(model, description, f"{setting.folder}/{setting.name}")
    return model, description


def _score(element: Group, config: ClassifierStep, trained: Trained) -> Iterator[Any]:
    model, counts = trained[0], ScoreCounts()
    for documents in grouped_documents(element[1]):
        scores = model.scores(hash_ngrams([document.text for document in documents], model.hashing))
        yield [
            (document, _decide(document, score, config, counts))
            for document, score in zip(documents, scores.tolist())
        ]
    yield TaggedOutput("scores", counts)


def _decide(document: Document, score: float, config: ClassifierStep, counts: ScoreCounts) -> Decision:
    side = side_of(document.source, config)
    if side is None:
        return Keep(document, {"other_source": 1})
    kept = side == REFERENCE or keeps(score, document.id, config)
    count_score(counts, document.source, score, kept)
    if side == REFERENCE:
        return Keep(document, {"reference": 1}, {"score": score})
    return Keep(document, metadata={"score": score}) if kept else Drop("low_score")


def _write(counts: ScoreCounts, config: ClassifierStep, setting: Setting, trained: Trained) -> CorpusCounts:
    rule = {name: getattr(config, name) for name in ("keep", "alpha", "threshold")}
    report = {**rule, **trained[1], "scores": score_histogram(counts)}
    write_json(f"{setting.folder}/{setting.name}.json", report)
    return measured_scores(counts) if setting.measures else CorpusCounts()


def reference_name(source: AnySource) -> str:
    """Returns the name of a reference as a source of documents.

    It has a space, so that it differs from the names of a recipe's sources.
    """
    return f"reference {source.name}"


@beam.ptransform_fn
def ReadReference(pipeline: beam.Pipeline, sources: Sequence[AnySource]) -> PCollection[list[Document]]:
    """Reads sources that are not part of the corpus, as lists of documents.

    Raises:
        SourceError: when applied, if a source has no file; on a worker, if a record cannot be read, since
            its absence would go unnoticed; the message names file and line.
    """
    files = [(source, file) for source in sources for file in list_files(source)]
    return pipeline | "Files" >> beam.Create(files) | "Read" >> beam.FlatMapTuple(_read)


def _read(source: AnySource, file: SourceFile) -> Iterator[list[Document]]:
    return split_into_batches(_documents(source, file), DOCUMENTS_A_BATCH)


def _documents(source: AnySource, file: SourceFile) -> Iterator[Document]:
    for record in read_file(source, file):
        if not isinstance(record, Document):
            place = f"{record.file}:{record.line}"
            excerpt = record.excerpt(scrubber_for(Cleaning()))
            raise SourceError(f"{reference_name(source)!r}: {place}: {record.reason}: {excerpt}")
        yield dataclasses.replace(record, source=reference_name(source))
