from .anomaly_validator.component import AnomalyValidator as AnomalyValidator
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
from .corpus_example_gen.component import CorpusExampleGen as CorpusExampleGen
from .corpus_exporter.component import CorpusExporter as CorpusExporter
from .corpus_reporter.component import CorpusReporter as CorpusReporter
from .corpus_validator.component import CorpusValidator as CorpusValidator
from .curator.component import Curator as Curator
from .distribution_validator.component import DistributionValidator as DistributionValidator
from .labelled_example_gen.component import LabelledExampleGen as LabelledExampleGen
from .objective_validator.component import ObjectiveValidator as ObjectiveValidator
from .pinned_schema_gen.component import PinnedSchemaGen as PinnedSchemaGen
from .prediction_exporter.component import PredictionExporter as PredictionExporter
from .pusher.component import Pusher as Pusher
from .reporter.component import Reporter as Reporter
from .request_example_gen.component import RequestExampleGen as RequestExampleGen
from .sequence_gen.component import SequenceGen as SequenceGen
from .serving_validator.component import ServingValidator as ServingValidator
from .task_data_validator.component import TaskDataValidator as TaskDataValidator
from .task_reporter.component import TaskReporter as TaskReporter
from .task_row_gen.component import TaskRowGen as TaskRowGen
from .task_schema_gen.component import TaskSchemaGen as TaskSchemaGen
from .tokenizer_gen.component import TokenizerGen as TokenizerGen
