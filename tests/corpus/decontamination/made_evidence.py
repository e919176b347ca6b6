"""Found n-grams, made of examples and of texts that count as the corpus."""

import numpy as np

from firth.corpus.decontamination.benchmarks import BenchmarkExample
from firth.corpus.decontamination.decontaminate import NgramIndex
from firth.corpus.decontamination.evidence import FoundNgrams


def found_ngrams(examples, corpus, size=3, step="decontaminate", action="keep") -> FoundNgrams:
    index = NgramIndex([BenchmarkExample("exam", f"{i}", each) for i, each in enumerate(examples)], size)
    hits = np.unique(np.array([hit.ngram for hit in index.find(corpus)], np.int64))
    return index.found_ngrams(hits, index.table(hits), step, action)
