"""The component TaskSchemaGen."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts

from firth import storage
from firth.components.declaration import Artifacts, Component, Properties, declare
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import task_from_json
from firth.tasks.labelled.validation import task_schema

# As TFX's components look for it.
SCHEMA_FILE = "schema.pbtxt"


class Executor(base_executor.BaseExecutor):
    """Writes the schema of one task."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `schema.pbtxt`."""
        folder = artifact_utils.get_single_uri(output_dict["schema"])
        storage.write_text(
            os.path.join(folder, SCHEMA_FILE), task_schema(task_from_json(exec_properties["task"]))
        )


class TaskSchemaGen(Component, executor=Executor):
    """Writes the schema of a task's labelled records, instead of one that is inferred from them.

    Args:
        task: Task of the recipe, with its labels.

    Outputs:
        schema: `schema.pbtxt`; see `firth.tasks.labelled.validation.task_schema`.
    """

    SPEC_CLASS = declare(outputs={"schema": standard_artifacts.Schema}, parameters={"task": str})

    def __init__(self, task: Task) -> None:
        super().__init__(task=task.to_json())
