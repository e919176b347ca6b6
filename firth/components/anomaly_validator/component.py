"""The declaration of AnomalyValidator."""

from tfx import types
from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from firth.components.anomaly_validator.executor import Executor
from firth.components.artifacts import RecordAnomalies


class AnomalyValidatorSpec(ComponentSpec):
    """Inputs, outputs and parameters of AnomalyValidator."""

    PARAMETERS = {"schema_file": ExecutionParameter(type=str)}  # noqa: RUF012
    INPUTS = {  # noqa: RUF012
        "anomalies": ChannelParameter(type=standard_artifacts.ExampleAnomalies),
        "inferred": ChannelParameter(type=standard_artifacts.Schema),
    }
    OUTPUTS = {"found": ChannelParameter(type=RecordAnomalies)}  # noqa: RUF012


class AnomalyValidator(base_component.BaseComponent):
    """Fails if ExampleValidator found anomalies, so that a component after it does not start.

    The component after it names it: `curator.add_upstream_node(anomaly_validator)`.

    Args:
        anomalies: Output of ExampleValidator.
        inferred: Output of SchemaGen; the error names it as the schema that the records have now.
        schema_file: Path of the schema that the records were checked against, for the error.

    Outputs:
        found: `anomalies.json`, a list of objects of feature, anomaly and description.
    """

    SPEC_CLASS = AnomalyValidatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self, anomalies: types.BaseChannel, inferred: types.BaseChannel, schema_file: str = ""
    ) -> None:
        spec = AnomalyValidatorSpec(
            anomalies=anomalies,
            inferred=inferred,
            schema_file=schema_file,
            found=types.Channel(type=RecordAnomalies),
        )
        super().__init__(spec=spec)
