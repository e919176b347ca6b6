"""From raw text to packed rows of tokens, on Apache Beam.

Names load on first use, since Beam takes seconds to import.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.corpus.curation.curate import curate
    from firth.corpus.curation.step_files import files_digest
    from firth.corpus.curation.step_table import STEPS
    from firth.corpus.documents.document import Document
    from firth.corpus.documents.errors import (
        CorpusError,
        CorpusLimitsError,
        CountMismatchError,
        EmptyCorpusError,
        SourceError,
        SourceSchemaError,
    )
    from firth.corpus.documents.split import EVAL, SPLITS, TRAIN
    from firth.corpus.documents.steps import Drop, Keep
    from firth.corpus.io.records import WriteRecords
    from firth.corpus.io.workers import fork_workers
    from firth.corpus.packing.sequences import make_sequences
    from firth.corpus.packing.word_counts import count_corpus_words, train_tokenizer
    from firth.corpus.quality.quality_model import QualityModel, load_quality_model
    from firth.corpus.readers.read import ReadSources, check_sources
    from firth.corpus.readers.sources import SOURCES, fingerprint
    from firth.corpus.report.limits import check_limits, measure_limits

_HOMES = {
    "CorpusError": "documents.errors",
    "CorpusLimitsError": "documents.errors",
    "CountMismatchError": "documents.errors",
    "Document": "documents.document",
    "Drop": "documents.steps",
    "EmptyCorpusError": "documents.errors",
    "Keep": "documents.steps",
    "MixtureError": "documents.errors",
    "QualityModel": "quality.quality_model",
    "ReadSources": "readers.read",
    "SOURCES": "readers.sources",
    "SPLITS": "documents.split",
    "STEPS": "curation.step_table",
    "SourceError": "documents.errors",
    "SourceSchemaError": "documents.errors",
    "TRAIN": "documents.split",
    "EVAL": "documents.split",
    "WriteRecords": "io.records",
    "check_limits": "report.limits",
    "check_sources": "readers.read",
    "count_corpus_words": "packing.word_counts",
    "curate": "curation.curate",
    "fingerprint": "readers.sources",
    "files_digest": "curation.step_files",
    "fork_workers": "io.workers",
    "load_quality_model": "quality.quality_model",
    "make_sequences": "packing.sequences",
    "measure_limits": "report.limits",
    "train_tokenizer": "packing.word_counts",
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
