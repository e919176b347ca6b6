"""The declaration of TaskSchemaGen."""

from tfx.types import standard_artifacts

from firth.components.declaration import Component, declare
from firth.components.task_schema_gen.executor import Executor
from firth.recipes.tasks.task import Task


class TaskSchemaGen(Component, executor=Executor):
    """Writes the schema of a task's labelled records, in the place of one that is inferred from them.

    Args:
        task: Task of the recipe, with its labels.

    Outputs:
        schema: `schema.pbtxt`; see `firth.tasks.labelled.schema.task_schema`.
    """

    SPEC_CLASS = declare(outputs={"schema": standard_artifacts.Schema}, parameters={"task": str})

    def __init__(self, task: Task) -> None:
        super().__init__(task=task.to_json())
