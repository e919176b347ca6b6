"""An index of the word n-grams of evaluation data, which finds them in other texts without error."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from firth.corpus.contamination.found_ngrams import FoundNgrams
from firth.corpus.decontamination.benchmarks import BenchmarkExample
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.corpus.text.words import comparable_words


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
        """Returns what was found in the form in which it goes with models.

        Args:
            found: int64 [n], the numbers of the n-grams that were found, each once.
        """
        # The n-grams of an example stand one after another.
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
