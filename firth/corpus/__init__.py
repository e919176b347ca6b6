"""From raw text to packed rows of tokens, on Apache Beam.

Names load on first use, since Beam takes seconds to import.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.corpus.curation import curate
    from firth.corpus.document import Document
    from firth.corpus.errors import (
        CorpusError,
        CorpusLimitsError,
        CountMismatchError,
        EmptyCorpusError,
        SourceError,
        SourceSchemaError,
    )
    from firth.corpus.limits import check_limits, measure_limits
    from firth.corpus.quality_model import QualityModel, load_quality_model
    from firth.corpus.read import ReadSources, check_sources
    from firth.corpus.records import WriteRecords
    from firth.corpus.sequences import make_sequences
    from firth.corpus.sources import SOURCES, fingerprint
    from firth.corpus.split import EVAL, SPLITS, TRAIN
    from firth.corpus.step_files import files_digest
    from firth.corpus.step_table import STEPS
    from firth.corpus.steps import Drop, Keep
    from firth.corpus.word_counts import count_corpus_words, train_tokenizer
    from firth.corpus.workers import fork_workers

_HOMES = {
    "CorpusError": "errors",
    "CorpusLimitsError": "errors",
    "CountMismatchError": "errors",
    "Document": "document",
    "Drop": "steps",
    "EmptyCorpusError": "errors",
    "Keep": "steps",
    "MixtureError": "errors",
    "QualityModel": "quality_model",
    "ReadSources": "read",
    "SOURCES": "sources",
    "SPLITS": "split",
    "STEPS": "step_table",
    "SourceError": "errors",
    "SourceSchemaError": "errors",
    "TRAIN": "split",
    "EVAL": "split",
    "WriteRecords": "records",
    "check_limits": "limits",
    "check_sources": "read",
    "count_corpus_words": "word_counts",
    "curate": "curation",
    "fingerprint": "sources",
    "files_digest": "step_files",
    "fork_workers": "workers",
    "load_quality_model": "quality_model",
    "make_sequences": "sequences",
    "measure_limits": "limits",
    "train_tokenizer": "word_counts",
}

__all__ = [
    "EVAL",
    "SOURCES",
    "SPLITS",
    "STEPS",
    "TRAIN",
    "CorpusError",
    "CorpusLimitsError",
    "CountMismatchError",
    "Document",
    "Drop",
    "EmptyCorpusError",
    "Keep",
    "MixtureError",
    "QualityModel",
    "ReadSources",
    "SourceError",
    "SourceSchemaError",
    "WriteRecords",
    "check_limits",
    "check_sources",
    "count_corpus_words",
    "curate",
    "files_digest",
    "fingerprint",
    "fork_workers",
    "load_quality_model",
    "make_sequences",
    "measure_limits",
    "train_tokenizer",
]

__getattr__ = lazy_names(__name__, _HOMES)
