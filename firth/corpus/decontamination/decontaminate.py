"""The step that finds evaluation data in documents, and drops the documents or cuts it out."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput
from apache_beam.utils.shared import Shared

from firth.corpus.decontamination.benchmarks import list_benchmark_files, read_benchmark
from firth.corpus.decontamination.ngram_index import NgramIndex
from firth.corpus.documents.corpus_counts import CorpusCounts, Count
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.io.source_files import SourceFile
from firth.corpus.privacy.pii import Pii
from firth.corpus.text.words import comparable_forms
from firth.recipes.corpus.benchmarks import AnyBenchmark
from firth.recipes.corpus.duplicates import DecontaminateStep
from firth.recipes.corpus.privacy import PiiStep
from firth.segmentation.words import word_spans
from firth.storage import write_json

COUNTS = ("examples", "examples_too_short", "examples_found", "ngrams", "ngrams_found")


class Decontaminate(CorpusStep[DecontaminateStep]):
    """Drops documents with a word n-gram of evaluation data, as `contaminated`, or cuts it out, or keeps it.

    The method is that of GPT-3 (Brown et al. 2020, arXiv:2005.14165, appendix C), by default with its 13
    words. Matches are exact: there is no Bloom filter, and equal hashes are verified word by word. If n-grams
    are cut out, the remaining pieces are joined by blank lines.

    The step writes `<step>.json` to the folder of the report: `ngram_words`, and under `benchmarks` what
    `NgramIndex.table` returns. It names the examples that were found anywhere in the corpus, so that models
    can be scored without them. The report's `counts` have the same numbers. Next to it stands
    `<step>.ngrams.safetensors`, see `firth.corpus.contamination.found_ngrams`, which goes with the models.

    Each worker reads the evaluation data and holds it with its index. It holds one batch of documents at a
    time.

    Raises:
        SourceError: on construction of the pipeline, if a benchmark has no file.
    """

    reasons = frozenset({"contaminated"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        config = self._config
        files = [(each, file) for each in config.benchmarks for file in list_benchmark_files(each)]
        index = SharedIndex(files, config.ngram_words)
        search = beam.ParDo(_Search(config, index)).with_outputs("found", main="decided")
        outputs = documents | "Search" >> search
        found = outputs.found | "Found" >> beam.CombineGlobally(_union)
        return outputs.decided, found | "Write" >> beam.Map(_write, setting, config, index)


class SharedIndex:
    """The index of the examples in some files, which each process makes only once."""

    def __init__(self, files: list[tuple[AnyBenchmark, SourceFile]], ngram_words: int) -> None:
        self._files = files
        self._ngram_words = ngram_words
        self._shared = Shared()

    def get(self) -> NgramIndex:
        """Returns the index, which is made on the first call in a process."""
        return self._shared.acquire(self._make)

    def _make(self) -> NgramIndex:
        examples = (example for file in self._files for example in read_benchmark(*file))
        return NgramIndex(examples, self._ngram_words)


class _Search(beam.DoFn):
    def __init__(self, config: DecontaminateStep, index: SharedIndex) -> None:
        self._config = config
        self._shared_index = index

    def setup(self) -> None:
        self._index = self._shared_index.get()

    def process(self, documents: list[Document]) -> Iterator[Any]:
        hits = list(self._index.find([document.text for document in documents]))
        places: dict[int, list[int]] = {}
        for hit in hits:
            places.setdefault(hit.text, []).append(hit.word)
        yield [(document, self._decide(document, places.get(i))) for i, document in enumerate(documents)]
        yield TaggedOutput("found", np.unique(np.array([hit.ngram for hit in hits], np.int64)))

    def _decide(self, document: Document, places: list[int] | None) -> Decision:
        config = self._config
        if not places:
            return Keep(document)
        if config.action == "drop":
            return Drop("contaminated")
        if config.action == "keep":
            return Keep(document, {"documents_found": 1})
        pieces = cut_ngrams(document.text, places, config.ngram_words, config.margin_characters)
        pieces = [piece for piece in pieces if len(piece) >= max(1, config.min_piece_characters)]
        if not pieces:
            return Drop("contaminated")
        return Keep(document.with_text("\n\n".join(pieces)), {"documents_cut": 1})


def cut_ngrams(text: str, places: Iterable[int], size: int, margin: int) -> list[str]:
    """Returns the pieces of a text that are left without some n-grams.

    Example:

    >>> cut_ngrams("One, two - three four five; six.", [2], size=2, margin=0)
    ['One, two -', 'five; six.']
    """
    # A word may be compared as several ones, since a ligature may stand for several words.
    words = [(start, end) for start, end in word_spans(text) for _ in comparable_forms(text[start:end])]
    starts, ends = zip(*words)
    pieces, done = [], 0
    for place in places:
        start, end = starts[place] - margin, ends[place + size - 1] + margin
        first = bisect_right(ends, start)
        start = min(start, starts[first])
        last = bisect_right(starts, end - 1) - 1
        pieces.append(text[done : max(done, start)])
        done = max(done, end, ends[last])
    return [piece for piece in map(str.strip, [*pieces, text[done:]]) if piece]


def _write(
    found: np.ndarray, setting: Setting, config: DecontaminateStep, index: SharedIndex
) -> CorpusCounts:
    rows = index.get().table(found)
    index.get().found_ngrams(found, rows, setting.name, config.action).save(setting.folder)
    path = f"{setting.folder}/{setting.name}.json"
    # Ids are those that the files state, or their names.
    scrub = Pii(PiiStep(kind="pii")).scrub_address
    shown = [{**row, "found": [{**each, "id": scrub(each["id"])} for each in row["found"]]} for row in rows]
    write_json(path, {"ngram_words": config.ngram_words, "benchmarks": shown})
    totals = CorpusCounts()
    for row in rows:
        for name in COUNTS:
            totals.counts[Count(setting.name, row["benchmark"], name)] = row[name]
    return totals


def _union(found: Iterable[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))
