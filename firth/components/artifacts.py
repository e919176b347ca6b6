"""Artifact types that TFX has no standard type for.

They declare no properties (KubeflowV2DagRunner refuses declared ones) and carry custom properties instead.
"""

from tfx.types.artifact import Artifact


class Tokenizer(Artifact):
    """A saved tokenizer: vocabulary, settings, golden id vectors and digest. Custom property: `digest`."""

    TYPE_NAME = "firth.Tokenizer"


class RecordAnomalies(Artifact):
    """`anomalies.json`: the differences between the records of the sources and their schema."""

    TYPE_NAME = "firth.RecordAnomalies"


class CorpusReport(Artifact):
    """`corpus_report.json`: the documents kept and dropped by each cleaning step, by source."""

    TYPE_NAME = "firth.CorpusReport"


class QualityClassifier(Artifact):
    """The classifiers that cleaning trained: a folder of each step's name, as `save_quality_model` writes it.

    Custom properties: of each step `<step>_auc`, measured on documents held out.
    """

    TYPE_NAME = "firth.QualityClassifier"


class CorpusPage(Artifact):
    """`corpus_report.html`: one self-contained page on the cleaning of the documents."""

    TYPE_NAME = "firth.CorpusPage"


class MeasuredLimits(Artifact):
    """`measured_limits.json`: each limit of a corpus that the recipe sets, and what was measured."""

    TYPE_NAME = "firth.MeasuredLimits"


class ObjectiveRates(Artifact):
    """`objective_rates.json`: shares measured on rows of the train split, with their bounds."""

    TYPE_NAME = "firth.ObjectiveRates"


class ServingReport(Artifact):
    """`serving_report.json`: answers of the exported model in a fresh process, and the ops that it needs."""

    TYPE_NAME = "firth.ServingReport"


class RunReport(Artifact):
    """`report.html`: one self-contained page on the whole run."""

    TYPE_NAME = "firth.RunReport"
