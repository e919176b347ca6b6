"""From raw text to packed rows of tokens, on Apache Beam.

Names load on first use, since Beam takes seconds to import.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.corpus.curation import curate
    from firth.corpus.document import Document
    from firth.corpus.errors import CorpusError, CountMismatchError, EmptyCorpusError, SourceError
    from firth.corpus.read import ReadSources, check_sources
    from firth.corpus.sequences import make_sequences
    from firth.corpus.sources import SOURCES, fingerprint
    from firth.corpus.split import EVAL, SPLITS, TRAIN
    from firth.corpus.step_table import STEPS
    from firth.corpus.steps import Drop, Keep
    from firth.corpus.word_counts import count_corpus_words, train_tokenizer

_HOMES = {
    "CorpusError": "errors",
    "CountMismatchError": "errors",
    "Document": "document",
    "Drop": "steps",
    "EmptyCorpusError": "errors",
    "Keep": "steps",
    "ReadSources": "read",
    "SOURCES": "sources",
    "SPLITS": "split",
    "STEPS": "step_table",
    "SourceError": "errors",
    "TRAIN": "split",
    "EVAL": "split",
    "check_sources": "read",
    "count_corpus_words": "word_counts",
    "curate": "curation",
    "fingerprint": "sources",
    "make_sequences": "sequences",
    "train_tokenizer": "word_counts",
}

__all__ = [
    "EVAL",
    "SOURCES",
    "SPLITS",
    "STEPS",
    "TRAIN",
    "CorpusError",
    "CountMismatchError",
    "Document",
    "Drop",
    "EmptyCorpusError",
    "Keep",
    "ReadSources",
    "SourceError",
    "check_sources",
    "count_corpus_words",
    "curate",
    "fingerprint",
    "make_sequences",
    "train_tokenizer",
]

__getattr__ = lazy_names(__name__, _HOMES)
