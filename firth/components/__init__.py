"""TFX components. Each is loaded when it is first asked for, since TFX itself takes long to import."""

from firth.lazy import lazy_names

_HOMES = {
    "AnomalyValidator": "anomaly_validator.component",
    "CorpusExampleGen": "corpus_example_gen.component",
    "CorpusPage": "artifacts",
    "CorpusReport": "artifacts",
    "CorpusReporter": "corpus_reporter.component",
    "CorpusValidator": "corpus_validator.component",
    "Curator": "curator.component",
    "MeasuredLimits": "artifacts",
    "ObjectiveRates": "artifacts",
    "ObjectiveValidator": "objective_validator.component",
    "PinnedSchemaGen": "pinned_schema_gen.component",
    "Pusher": "pusher.component",
    "QualityClassifier": "artifacts",
    "RecordAnomalies": "artifacts",
    "Reporter": "reporter.component",
    "RunReport": "artifacts",
    "SequenceGen": "sequence_gen.component",
    "ServingReport": "artifacts",
    "ServingValidator": "serving_validator.component",
    "Tokenizer": "artifacts",
    "TokenizerGen": "tokenizer_gen.component",
}

__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)
