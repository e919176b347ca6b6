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
