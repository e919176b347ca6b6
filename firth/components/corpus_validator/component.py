"""The declaration of CorpusValidator."""

from tfx import types
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.artifacts import CorpusReport, MeasuredLimits
from firth.components.corpus_validator.executor import Executor
from firth.recipes.corpus.limits import CorpusLimits


class CorpusValidatorSpec(ComponentSpec):
    """Inputs, outputs and parameters of CorpusValidator."""

    PARAMETERS = {"limits": ExecutionParameter(type=str)}  # noqa: RUF012
    INPUTS = {"report": ChannelParameter(type=CorpusReport)}  # noqa: RUF012
    OUTPUTS = {"measured": ChannelParameter(type=MeasuredLimits)}  # noqa: RUF012


class CorpusValidator(base_component.BaseComponent):
    """Checks a corpus report against limits.

    It fails if a limit is broken, so that a component after it (`tokenizer.add_upstream_node(validator)`)
    does not start. Curator's report stays.

    Args:
        report: Output of Curator.
        limits: Limits of the recipe.

    Outputs:
        measured: `measured_limits.json`, see `firth.corpus.measure_limits`.
    """

    SPEC_CLASS = CorpusValidatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, report: types.BaseChannel, limits: CorpusLimits) -> None:
        spec = CorpusValidatorSpec(
            report=report, limits=limits.to_json(), measured=types.Channel(type=MeasuredLimits)
        )
        super().__init__(spec=spec)
