"""The work of TaskSchemaGen: writes what `task_schema` returns."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils

from firth import storage
from firth.components.execution import Artifacts, Properties
from firth.recipes.tasks.tasks import task_from_json
from firth.tasks.labelled.schema import task_schema

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
