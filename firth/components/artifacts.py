"""Artifact types that TFX has no standard type for.

They declare no properties (KubeflowV2DagRunner refuses declared ones) and carry custom properties instead.
"""

from tfx.types.artifact import Artifact


class _Artifact(Artifact):
    def __init_subclass__(cls) -> None:
        cls.TYPE_NAME = f"firth.{cls.__name__}"


class Tokenizer(_Artifact):
    """A saved tokenizer: vocabulary, settings, golden id vectors and digest. Custom property: `digest`."""


class RecordAnomalies(_Artifact):
    """`anomalies.json`: the differences between records and their schema; `skew.json` of labelled ones."""


class Distances(_Artifact):
    """`distances.json`: how far the distributions of data are from those of others."""


class PredictedRecords(_Artifact):
    """`predictions.jsonl`: answers of a model to records without labels, and `report.json`."""


class CorpusReport(_Artifact):
    """`corpus_report.json`: the documents kept and dropped by each cleaning step, by source."""


class QualityClassifier(_Artifact):
    """The classifiers that cleaning trained: a folder of each step's name, as `save_quality_model` writes it.

    Custom properties: of each step `<step>_auc`, measured on documents held out.
    """


class CorpusPage(_Artifact):
    """`corpus_report.html`: one self-contained page on the cleaning of the documents."""


class ExportedCorpus(_Artifact):
    """A folder for each format of a cleaned corpus, and `outputs.json`, their sizes."""


class MeasuredLimits(_Artifact):
    """`measured_limits.json`: each limit of a corpus that the recipe sets, and the measured value."""


class ObjectiveRates(_Artifact):
    """`objective_rates.json`: shares measured on rows of the train split, with their bounds."""


class ServingReport(_Artifact):
    """`serving_report.json`: answers of the exported model in a fresh process, and the ops that it needs."""


class RunReport(_Artifact):
    """`report.html`: one self-contained page on the whole run."""
