from .curation.curate import curate as curate
from .curation.outputs import write_outputs as write_outputs
from .curation.step_table import STEPS as STEPS, check_models as check_models, files_digest as files_digest
from .documents.document import Document as Document
from .documents.errors import (
    CorpusError as CorpusError,
    CorpusLimitsError as CorpusLimitsError,
    CountMismatchError as CountMismatchError,
    EmptyCorpusError as EmptyCorpusError,
    MixtureError as MixtureError,
    SourceError as SourceError,
    SourceSchemaError as SourceSchemaError,
)
from .documents.split import EVAL as EVAL, SPLITS as SPLITS, TRAIN as TRAIN
from .documents.steps import Drop as Drop, Keep as Keep
from .io.records import WriteRecords as WriteRecords
from .packing.sequences import make_sequences as make_sequences
from .packing.word_counts import count_corpus_words as count_corpus_words, train_tokenizer as train_tokenizer
from .quality.quality_model import QualityModel as QualityModel, load_quality_model as load_quality_model
from .readers.read_sources import ReadSources as ReadSources, check_sources as check_sources
from .readers.sources import SOURCES as SOURCES, fingerprint as fingerprint
from .report.limits import check_limits as check_limits, measure_limits as measure_limits
from .workers.forked_workers import fork_workers as fork_workers
