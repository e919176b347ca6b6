"""The declaration of TaskDataValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import RecordAnomalies
from firth.components.declaration import Component, declare
from firth.components.task_data_validator.executor import Executor


class TaskDataValidator(Component, executor=Executor):
    """Fails if ExampleValidator found anomalies, and tells how the two splits differ.

    The component after it names it: `rows.add_upstream_node(task_data_validator)`.

    Args:
        statistics: Output of StatisticsGen, of the splits `train` and `eval`.
        anomalies: Output of ExampleValidator, by the schema of the task.

    Outputs:
        found: `anomalies.json`, a list of objects of feature, anomaly and description; and `skew.json`, a
            list of what `firth.tasks.labelled.skew.find_skew` returns.
    """

    SPEC_CLASS = declare(
        inputs={
            "statistics": standard_artifacts.ExampleStatistics,
            "anomalies": standard_artifacts.ExampleAnomalies,
        },
        outputs={"found": RecordAnomalies},
    )

    def __init__(self, statistics: types.BaseChannel, anomalies: types.BaseChannel) -> None:
        super().__init__(statistics=statistics, anomalies=anomalies)
