"""The declaration of Curator."""

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.artifacts import CorpusReport, QualityClassifier
from firth.components.curator.executor import Executor
from firth.corpus import files_digest
from firth.recipes.corpus.cleaning import Cleaning


class CuratorSpec(ComponentSpec):
    """Inputs, outputs and parameters of Curator. TFX wants inputs and outputs named apart."""

    PARAMETERS = {  # noqa: RUF012
        "cleaning": ExecutionParameter(type=str),
        "files_digest": ExecutionParameter(type=str),
    }
    INPUTS = {"documents": ChannelParameter(type=standard_artifacts.Examples)}  # noqa: RUF012
    OUTPUTS = {  # noqa: RUF012
        "examples": ChannelParameter(type=standard_artifacts.Examples),
        "report": ChannelParameter(type=CorpusReport),
        "classifiers": ChannelParameter(type=QualityClassifier, optional=True),
    }


class Curator(base_beam_component.BaseBeamComponent):
    """Applies the recipe's cleaning steps to documents and splits them into train and eval.

    Args:
        examples: Output of CorpusExampleGen.
        cleaning: Cleaning of the recipe: the steps and the split. Its limits are for CorpusValidator. The
            cached output is used again only while the files that steps read keep their contents.

    Raises:
        firth.corpus.CorpusError: if a file that a step reads does not exist.

    Outputs:
        examples: The documents that are left, splits `train` and `eval`.
        report: `corpus_report.json`, see `firth.corpus.report.corpus_report.build_report`, and next to it
            what single steps report.
        classifiers: Where the cleaning has steps of kind `classifier`, what they trained.

    Raises:
        firth.corpus.CorpusError: if a file that a step reads is not there.
    """

    SPEC_CLASS = CuratorSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: types.BaseChannel, cleaning: Cleaning) -> None:
        trains = any(step.trains_model for step in cleaning.steps)
        spec = CuratorSpec(
            documents=examples,
            cleaning=cleaning.without_limits().to_json(),
            files_digest=files_digest(cleaning),
            examples=types.Channel(type=standard_artifacts.Examples),
            report=types.Channel(type=CorpusReport),
            classifiers=types.Channel(type=QualityClassifier) if trains else None,
        )
        super().__init__(spec=spec)
