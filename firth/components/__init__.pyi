from .anomaly_validator import AnomalyValidator as AnomalyValidator
from .artifacts import (
    CorpusPage as CorpusPage,
    CorpusReport as CorpusReport,
    Distances as Distances,
    ExportedCorpus as ExportedCorpus,
    MeasuredLimits as MeasuredLimits,
    ObjectiveRates as ObjectiveRates,
    PredictedRecords as PredictedRecords,
    QualityClassifier as QualityClassifier,
    RecordAnomalies as RecordAnomalies,
    RunReport as RunReport,
    ServingReport as ServingReport,
    Tokenizer as Tokenizer,
)
from .data.corpus_example_gen import CorpusExampleGen as CorpusExampleGen
from .data.corpus_exporter import CorpusExporter as CorpusExporter
from .data.corpus_reporter import CorpusReporter as CorpusReporter
from .data.corpus_validator import CorpusValidator as CorpusValidator
from .data.curator import Curator as Curator
from .data.distribution_validator import DistributionValidator as DistributionValidator
from .data.sequence_gen import SequenceGen as SequenceGen
from .data.tokenizer_gen import TokenizerGen as TokenizerGen
from .objective_validator import ObjectiveValidator as ObjectiveValidator
from .pinned_schema_gen import PinnedSchemaGen as PinnedSchemaGen
from .pusher import Pusher as Pusher
from .records.labelled_example_gen import LabelledExampleGen as LabelledExampleGen
from .records.prediction_exporter import PredictionExporter as PredictionExporter
from .records.request_example_gen import RequestExampleGen as RequestExampleGen
from .records.task_data_validator import TaskDataValidator as TaskDataValidator
from .records.task_reporter import TaskReporter as TaskReporter
from .records.task_row_gen import TaskRowGen as TaskRowGen
from .records.task_schema_gen import TaskSchemaGen as TaskSchemaGen
from .reporter import Reporter as Reporter
from .serving_validator import ServingValidator as ServingValidator
