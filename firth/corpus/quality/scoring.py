"""Steps that keep documents by the score of a classifier from a file."""

import abc
import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput

from firth import storage
from firth.corpus.documents.corpus_counts import CorpusCounts, sum_counters
from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import CorpusError
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.recipes.base.errors import suggest
from firth.recipes.corpus.classifiers import AnyScoringStep
from firth.storage import write_json

BINS = 20
# Keys: source, bin of the score, whether the document was kept, and the score to two digits.
ScoreCounts = Counter[tuple[str, int, bool, float]]
_MODELS_HELD = 8
_LOADING = threading.Lock()


def count_score(counts: ScoreCounts, source: str, score: float, kept: bool) -> None:
    """Counts one document by its source, its score and whether it was kept."""
    counts[source, min(int(score * BINS), BINS - 1), kept, float(f"{score:.2g}")] += 1


def score_histogram(counts: Mapping[tuple[str, int, bool, float], int]) -> dict[str, Any]:
    """Returns the counts as a JSON object.

    Example:

    >>> counts = Counter()
    >>> count_score(counts, "web", 0.97, True)
    >>> score_histogram(counts)["sources"][0]["kept"][-2:]
    [0, 1]
    """
    sums = Counter[tuple[str, int, bool]]()
    for (source, place, kept, _), documents in counts.items():
        sums[source, place, kept] += documents
    sources = sorted({source for source, _, _ in sums})
    return {
        "lower": [place / BINS for place in range(BINS)],
        "sources": [
            {
                "source": source,
                "kept": [sums[source, place, True] for place in range(BINS)],
                "dropped": [sums[source, place, False] for place in range(BINS)],
            }
            for source in sources
        ],
    }


def measured_scores(counts: Mapping[tuple[str, int, bool, float], int]) -> CorpusCounts:
    """Returns the numbers of documents by score, of all sources, as counts for the corpus report."""
    totals = CorpusCounts()
    for (*_, score), documents in counts.items():
        totals.measure("score", score, documents)
    return totals


class LoadedClassifier(Protocol):
    """A classifier in memory."""

    @property
    def labels(self) -> Sequence[str]:
        """Its labels."""

    def score(self, text: str, label: str) -> float:
        """Returns the probability of a label, in [0, 1], which depends on the text alone."""


class Scoring(CorpusStep[AnyScoringStep]):
    """Base of the steps that drop documents of a `low_score`, or of a `high_score`.

    Each process loads the model once. The step writes `<step>.json` to the folder of the report: `label`,
    `threshold`, `keep`, and under `scores` the result of `score_histogram`. The report's `counts` have the
    number of documents of sources that are not scored as `other_source`.
    """

    reasons = frozenset({"low_score", "high_score"})

    def __init__(self, config: AnyScoringStep) -> None:
        super().__init__(config)
        if not storage.exists(config.path) or storage.is_folder(config.path):
            raise CorpusError(f"{config.kind}: there is no file {config.path}")
        # The same path may have other content when another step is made.
        self._digest = storage.digest_of(config.path)
        labels = self._model().labels
        if config.label not in labels:
            raise CorpusError(
                f"{config.kind}: {config.path} has no label {config.label!r}; {suggest(config.label, labels)}"
            )

    @staticmethod
    @abc.abstractmethod
    def load(config: Any) -> LoadedClassifier:
        """Returns the model of a step.

        Raises:
            CorpusError: if its file is not such a model.
        """

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        outputs = documents | "Score" >> beam.FlatMap(self._score).with_outputs("scores", main="decided")
        totals = (
            outputs.scores
            | "Sum" >> beam.CombineGlobally(sum_counters)
            | "Write" >> beam.Map(_write, self._config, setting)
        )
        return outputs.decided, totals

    def _model(self) -> LoadedClassifier:
        # Threads of a process would otherwise each load it.
        with _LOADING:
            return _loaded(type(self).load, self._config, self._digest)

    def _score(self, documents: list[Document]) -> Iterator[Any]:
        model, counts = self._model(), ScoreCounts()
        yield [(document, self._decide(document, model, counts)) for document in documents]
        yield TaggedOutput("scores", counts)

    def _decide(self, document: Document, model: LoadedClassifier, counts: ScoreCounts) -> Decision:
        config = self._config
        if config.sources and document.source not in config.sources:
            return Keep(document, {"other_source": 1})
        score = model.score(document.text[: config.max_characters], config.label)
        above = score >= config.threshold
        kept = above == (config.keep == "at_least")
        count_score(counts, document.source, score, kept)
        return (
            Keep(document, metadata={"score": score})
            if kept
            else Drop("high_score" if above else "low_score")
        )


@functools.lru_cache(_MODELS_HELD)
def _loaded(
    load: Callable[[Any], LoadedClassifier], config: AnyScoringStep, digest: bytes
) -> LoadedClassifier:
    try:
        return load(config)
    except CorpusError as error:
        raise CorpusError(f"{config.kind}: {config.path}: {error}") from error


def _write(counts: ScoreCounts, config: AnyScoringStep, setting: Setting) -> CorpusCounts:
    rule = {name: getattr(config, name) for name in ("label", "keep", "threshold")}
    write_json(f"{setting.folder}/{setting.name}.json", {**rule, "scores": score_histogram(counts)})
    return measured_scores(counts) if setting.measures else CorpusCounts()
