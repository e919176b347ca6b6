from .curation.curate import curate as curate
from .curation.step_files import files_digest as files_digest
from .curation.step_table import STEPS as STEPS
from .documents.document import Document as Document
from .documents.errors import (
    CorpusError as CorpusError,
)
from .documents.errors import (
    CorpusLimitsError as CorpusLimitsError,
)
from .documents.errors import (
    CountMismatchError as CountMismatchError,
)
from .documents.errors import (
    EmptyCorpusError as EmptyCorpusError,
)
from .documents.errors import (
    MixtureError as MixtureError,
)
from .documents.errors import (
    SourceError as SourceError,
)
from .documents.errors import (
    SourceSchemaError as SourceSchemaError,
)
from .documents.split import EVAL as EVAL
from .documents.split import SPLITS as SPLITS
from .documents.split import TRAIN as TRAIN
from .documents.steps import Drop as Drop
from .documents.steps import Keep as Keep
from .io.records import WriteRecords as WriteRecords
from .io.workers import fork_workers as fork_workers
from .packing.sequences import make_sequences as make_sequences
from .packing.word_counts import count_corpus_words as count_corpus_words
from .packing.word_counts import train_tokenizer as train_tokenizer
from .quality.quality_model import QualityModel as QualityModel
from .quality.quality_model import load_quality_model as load_quality_model
from .readers.read import ReadSources as ReadSources
from .readers.read import check_sources as check_sources
from .readers.sources import SOURCES as SOURCES
from .readers.sources import fingerprint as fingerprint
from .report.limits import check_limits as check_limits
from .report.limits import measure_limits as measure_limits
