"""The step that finds evaluation data in documents, and drops the documents or cuts it out."""

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput
from apache_beam.utils.shared import Shared

from firth.corpus.decontamination.benchmarks import BenchmarkExample, list_benchmark_files, read_benchmark
from firth.corpus.decontamination.evidence import FoundNgrams
from firth.corpus.documents.corpus_counts import CorpusCounts, Count
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents
from firth.corpus.io.source_files import SourceFile
from firth.corpus.privacy.pii import Pii
from firth.corpus.text.comparable_text import comparable_forms, comparable_words
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.recipes.corpus.benchmarks import AnyBenchmark
from firth.recipes.corpus.duplicates import DecontaminateStep
from firth.recipes.corpus.privacy import PiiStep
from firth.segmentation.words import word_spans
from firth.storage import write_json


class Hit(NamedTuple):
    """An occurrence of an n-gram of the evaluation data in a text.

    Attributes:
        text: Index of the text among those that were searched.
        word: Index of the n-gram's first word in the text.
        ngram: Number of the n-gram in the index.
    """

    text: int
    word: int
    ngram: int


class NgramIndex:
    """Finds the word n-grams of examples in texts.

    N-grams are compared by 64-bit hashes and then word by word, so that every hit is real. The hash function
    is changed until no two different n-grams of the examples have the same hash, so that no hit is missed.
    The index takes about 50 bytes of memory for each word of the examples.

    Example:

    >>> index = NgramIndex([BenchmarkExample("quiz", "q1", "Who wrote Moby-Dick?")], size=2)
    >>> list(index.find(["He wrote “Moby-Dick”."]))
    [Hit(text=0, word=1, ngram=...)]
    """

    def __init__(self, examples: Iterable[BenchmarkExample], size: int) -> None:
        self._size = size
        self._examples: list[tuple[str, str]] = []
        self._words: list[list[str]] = []
        for example in examples:
            self._examples.append((example.benchmark, example.id))
            self._words.append(list(map(sys.intern, comparable_words(example.text))))
        self._seed = 0
        while not self._build():
            self._seed += 1

    def _build(self) -> bool:
        """Sorts the n-grams by hash, and returns whether no two different ones share a hash."""
        hashes, runs = shingle_hashes(*word_hashes(self._words, self._seed), self._size)
        owners = np.repeat(np.arange(len(self._words)), np.diff(runs))
        places = np.arange(len(hashes)) - runs[owners] if len(hashes) else owners
        self._hashes, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
        self._first = np.stack([owners[first], places[first]], axis=1)
        # For each occurrence of an n-gram in an example: the n-gram's number and the example's.
        self._numbers, self._owners = numbers.astype(np.int32), owners.astype(np.int32)
        repeated = np.flatnonzero(first[numbers] != np.arange(len(numbers)))
        return all(
            self._ngram(self._words[owners[i]], places[i]) == self._words_of(numbers[i]) for i in repeated
        )

    def _ngram(self, words: list[str], place: int) -> list[str]:
        return words[place : place + self._size]

    def _words_of(self, number: int) -> list[str]:
        owner, place = self._first[number]
        return self._ngram(self._words[owner], place)

    def find(self, texts: Sequence[str]) -> Iterator[Hit]:
        """Yields the occurrences of the examples' n-grams in texts, in their order."""
        if not len(self._hashes):
            return
        words = [comparable_words(text) for text in texts]
        hashes, runs = shingle_hashes(*word_hashes(words, self._seed), self._size)
        numbers = np.searchsorted(self._hashes, hashes)
        numbers[numbers == len(self._hashes)] = 0
        for i in np.flatnonzero(self._hashes[numbers] == hashes).tolist():
            text = int(np.searchsorted(runs, i, "right")) - 1
            place = i - int(runs[text])
            if self._ngram(words[text], place) == self._words_of(numbers[i]):
                yield Hit(text, place, int(numbers[i]))

    def table(self, found: np.ndarray) -> list[dict[str, Any]]:
        """Returns a summary of the n-grams that were found, by benchmark.

        Args:
            found: int64 [n], the numbers of the n-grams that were found, each once.
        """
        is_found = np.zeros(len(self._hashes), bool)
        is_found[found] = True
        names = list(dict.fromkeys(benchmark for benchmark, _ in self._examples))
        return [self._row(name, is_found) for name in names]

    def found_ngrams(
        self, found: np.ndarray, table: Sequence[dict[str, Any]], step: str, action: str
    ) -> FoundNgrams:
        """Returns the found n-grams in the form that models carry.

        Args:
            found: int64 [n], the numbers of the n-grams that were found, each once.
        """
        # The n-grams of an example are next to each other.
        outer = (np.diff(self._owners, prepend=-1) != 0) | (np.diff(self._owners, append=-1) != 0)
        return FoundNgrams(
            step=step,
            action=action,
            ngram_words=self._size,
            benchmarks=[
                {name: row[name] for name in ("benchmark", "examples", "examples_found")} for row in table
            ],
            seed=self._seed,
            found=np.sort(self._hashes[found]),
            ends=np.unique(self._hashes[self._numbers[outer]]),
        )

    def _row(self, name: str, is_found: np.ndarray) -> dict[str, Any]:
        members = np.array([benchmark == name for benchmark, _ in self._examples])
        mine = members[self._owners]
        owners, numbers = self._owners[mine], self._numbers[mine]
        pairs = np.unique(np.stack([owners, numbers]), axis=1)
        counts = Counter(pairs[0].tolist())
        hits = Counter(pairs[0][is_found[pairs[1]]].tolist())
        different = np.unique(numbers)
        return {
            "benchmark": name,
            "examples": int(members.sum()),
            "examples_too_short": int(members.sum()) - len(counts),
            "examples_found": len(hits),
            "ngrams": len(different),
            "ngrams_found": int(is_found[different].sum()),
            "found": [
                {"id": self._examples[owner][1], "ngrams": counts[owner], "ngrams_found": hits[owner]}
                for owner in sorted(hits)
            ],
        }


COUNTS = ("examples", "examples_too_short", "examples_found", "ngrams", "ngrams_found")


class Decontaminate(CorpusStep[DecontaminateStep]):
    """Drops documents with a word n-gram of evaluation data, as `contaminated`, or cuts it out, or keeps it.

    The method is that of GPT-3 (Brown et al. 2020, arXiv:2005.14165, appendix C), by default with its 13
    words. Matches are exact: there is no Bloom filter, and equal hashes are verified word by word. If n-grams
    are cut out, the remaining pieces are joined by blank lines.

    The step writes `<step>.json` to the folder of the report: `ngram_words`, and under `benchmarks` the
    result of `NgramIndex.table`. It names the examples that were found anywhere in the corpus, so that models
    can be scored without them. The report's `counts` have the same numbers. The file next to it,
    `<step>.ngrams.safetensors` (see `firth.corpus.decontamination.evidence`), is copied into the models.

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
    # A ligature may represent several words.
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
    # The files state the ids, or the names of the files are the ids.
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
