"""The declaration of ServingValidator."""

from tfx import types
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.artifacts import ServingReport
from firth.components.serving_validator.executor import Executor


class ServingValidatorSpec(ComponentSpec):
    """Inputs, outputs and parameters of ServingValidator."""

    PARAMETERS = {"eval_rows": ExecutionParameter(type=int)}  # noqa: RUF012
    INPUTS = {  # noqa: RUF012
        "model": ChannelParameter(type=standard_artifacts.Model),
        "examples": ChannelParameter(type=standard_artifacts.Examples, optional=True),
    }
    OUTPUTS = {  # noqa: RUF012
        "report": ChannelParameter(type=ServingReport),
        "blessing": ChannelParameter(type=standard_artifacts.InfraBlessing),
    }


class ServingValidator(base_component.BaseComponent):
    """Loads an exported model as TF Serving does and asks it normal, empty, huge and undecodable requests.

    It takes the place of TFX's InfraValidator on machines without containers: its blessing is of the same
    type, and Pusher reads it as `infra_blessing`.

    Args:
        model: Model of the Trainer, exported by `firth.serving.export`.
        examples: Output of SequenceGen; rows of its eval split are asked of the signature `evaluate`. Without
            it, the model's warm-up rows are.
        eval_rows: Number of rows that are asked.

    Outputs:
        report: `serving_report.json`, see `firth.serving.validate_serving`.
        blessing: Custom property `blessed`, 1 or 0.
    """

    SPEC_CLASS = ServingValidatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self, model: types.BaseChannel, examples: types.BaseChannel | None = None, eval_rows: int = 8
    ) -> None:
        spec = ServingValidatorSpec(
            model=model,
            examples=examples,
            eval_rows=eval_rows,
            report=types.Channel(type=ServingReport),
            blessing=types.Channel(type=standard_artifacts.InfraBlessing),
        )
        super().__init__(spec=spec)
