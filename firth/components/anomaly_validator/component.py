"""The declaration of AnomalyValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.anomaly_validator.executor import Executor
from firth.components.artifacts import RecordAnomalies
from firth.components.declaration import Component, declare


class AnomalyValidator(Component, executor=Executor):
    """Fails if ExampleValidator found anomalies, so that a component after it does not start.

    The component after it names it: `curator.add_upstream_node(anomaly_validator)`.

    Args:
        anomalies: Output of ExampleValidator.
        inferred: Output of SchemaGen; the error names it as the schema that the records have now.
        schema_file: Path of the schema that the records were checked against, for the error.

    Outputs:
        found: `anomalies.json`, a list of objects of feature, anomaly and description.
    """

    SPEC_CLASS = declare(
        inputs={"anomalies": standard_artifacts.ExampleAnomalies, "inferred": standard_artifacts.Schema},
        outputs={"found": RecordAnomalies},
        parameters={"schema_file": str},
    )

    def __init__(
        self, anomalies: types.BaseChannel, inferred: types.BaseChannel, schema_file: str = ""
    ) -> None:
        super().__init__(
            anomalies=anomalies,
            inferred=inferred,
            schema_file=schema_file,
        )
