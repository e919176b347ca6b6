"""The declaration of TaskDataValidator."""

from tfx import types
from tfx.types import standard_artifacts

from firth.components.artifacts import RecordAnomalies
from firth.components.declaration import Component, declare
from firth.components.task_data_validator.executor import Executor
from firth.recipes.tasks.task import Task
from firth.recipes.tokenizers.tokenizer import Sequences


class TaskDataValidator(Component, executor=Executor):
    """Fails if ExampleValidator found anomalies, or if the base cannot write the targets; tells how the two
    splits differ.

    The component after it names it: `rows.add_upstream_node(task_data_validator)`.

    Args:
        statistics: Output of StatisticsGen, of the splits `train` and `eval`.
        anomalies: Output of ExampleValidator, by the schema of the task.
        examples: Labelled records; with `base`, `task` and `sequences` for a task that writes texts.
        base: Model bundle whose tokenizer has to write the targets.
        task: Task of the recipe.
        sequences: Rows of the recipe.
        unknown_targets: Largest share of the pieces of the targets to train on that the vocabulary may lack.

    Outputs:
        found: `anomalies.json`, a list of objects of feature, anomaly and description; `skew.json`, a list of
            what `firth.tasks.labelled.skew.find_skew` returns; and `targets.json`, by split what
            `firth.tasks.targets.count_targets` returns, empty for a task that writes no texts.
    """

    SPEC_CLASS = declare(
        inputs={
            "statistics": standard_artifacts.ExampleStatistics,
            "anomalies": standard_artifacts.ExampleAnomalies,
        },
        optional_inputs={"records": standard_artifacts.Examples, "base": standard_artifacts.Model},
        outputs={"found": RecordAnomalies},
        parameters={"task": str, "sequences": str, "unknown_targets": float},
    )

    def __init__(
        self,
        statistics: types.BaseChannel,
        anomalies: types.BaseChannel,
        examples: types.BaseChannel | None = None,
        base: types.BaseChannel | None = None,
        task: Task | None = None,
        sequences: Sequences | None = None,
        unknown_targets: float = 1.0,
    ) -> None:
        reads = {} if examples is None or base is None else {"records": examples, "base": base}
        super().__init__(
            statistics=statistics,
            anomalies=anomalies,
            **reads,
            task=task.to_json() if task and reads else "",
            sequences=sequences.to_json() if sequences and reads else "",
            unknown_targets=unknown_targets,
        )
