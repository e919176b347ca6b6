"""Artifact types that TFX has no standard type for.

They declare no properties (KubeflowV2DagRunner refuses declared ones) and carry custom properties instead.
"""

from tfx.types.artifact import Artifact


class Tokenizer(Artifact):
    """A saved tokenizer: vocabulary, settings, golden id vectors and digest. Custom property: `digest`."""

    TYPE_NAME = "firth.Tokenizer"


class RecordAnomalies(Artifact):
    """`anomalies.json`: in what the records of the sources differ from their schema."""

    TYPE_NAME = "firth.RecordAnomalies"


class CorpusReport(Artifact):
    """`corpus_report.json`: what each cleaning step kept and dropped, by source."""

    TYPE_NAME = "firth.CorpusReport"


class QualityClassifier(Artifact):
    """The classifiers that cleaning trained: a folder of each step's name, as `save_quality_model` writes it.

    Custom properties: of each step `<step>_auc`, measured on documents held out.
    """

    TYPE_NAME = "firth.QualityClassifier"


class CorpusPage(Artifact):
    """`corpus_report.html`: one self-contained page on what became of the documents."""

    TYPE_NAME = "firth.CorpusPage"


class MeasuredLimits(Artifact):
    """`measured_limits.json`: each limit of a corpus that the recipe sets, and what was measured."""

    TYPE_NAME = "firth.MeasuredLimits"


class ObjectiveRates(Artifact):
    """`objective_rates.json`: what the objective did to rows of the train split, and what it should do."""

    TYPE_NAME = "firth.ObjectiveRates"


class ServingReport(Artifact):
    """`serving_report.json`: what the exported model answered in a fresh process, and the ops it needs."""

    TYPE_NAME = "firth.ServingReport"


class RunReport(Artifact):
    """`report.html`: one self-contained page on the whole run."""

    TYPE_NAME = "firth.RunReport"
