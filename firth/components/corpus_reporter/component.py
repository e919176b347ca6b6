"""The declaration of CorpusReporter."""

from tfx import types
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.artifacts import CorpusPage, CorpusReport
from firth.components.corpus_reporter.executor import Executor
from firth.recipes.corpus.cleaning import Cleaning


class CorpusReporterSpec(ComponentSpec):
    """Inputs, outputs and parameters of CorpusReporter."""

    PARAMETERS = {  # noqa: RUF012
        "name": ExecutionParameter(type=str),
        "cleaning": ExecutionParameter(type=str),
    }
    INPUTS = {"report": ChannelParameter(type=CorpusReport)}  # noqa: RUF012
    OUTPUTS = {"page": ChannelParameter(type=CorpusPage)}  # noqa: RUF012


class CorpusReporter(base_component.BaseComponent):
    """Writes one self-contained HTML page on the cleaning of the documents.

    It comes before CorpusValidator, so that the page is there if the validator stops the pipeline.

    Args:
        report: Output of Curator.
        name: Name of the recipe.
        cleaning: Cleaning of the recipe, limits included.

    Outputs:
        page: `corpus_report.html`.
    """

    SPEC_CLASS = CorpusReporterSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, report: types.BaseChannel, name: str, cleaning: Cleaning) -> None:
        spec = CorpusReporterSpec(
            report=report, name=name, cleaning=cleaning.to_json(), page=types.Channel(type=CorpusPage)
        )
        super().__init__(spec=spec)
