from . import (
    components as components,
    corpus as corpus,
    evaluation as evaluation,
    features as features,
    generation as generation,
    interop as interop,
    layers as layers,
    models as models,
    objectives as objectives,
    pipelines as pipelines,
    recipes as recipes,
    scores as scores,
    serving as serving,
    storage as storage,
    tasks as tasks,
    tokenizers as tokenizers,
    training as training,
    tuning as tuning,
)
from .components.artifacts import (
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
from .language_model.model import LanguageModel as LanguageModel
from .language_model.opening import create as create, load as load
from .language_model.pretraining import pretrain as pretrain
from .version import __version__ as __version__
