"""The work of TaskDataValidator: writes the anomalies and the skew of labelled records."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils

from firth import storage
from firth.components.anomalies import anomalies_of, anomalies_text
from firth.components.execution import Artifacts, Properties
from firth.components.kept_files import keep_files
from firth.components.statistics import statistics_of
from firth.tasks.labelled.skew import find_skew

FOUND_FILE, SKEW_FILE = "anomalies.json", "skew.json"
_SPLITS = ("train", "eval")


class TaskDataError(ValueError):
    """Labelled records do not fit their task."""


class Executor(base_executor.BaseExecutor):
    """Validates the labelled records of one run."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `anomalies.json` and `skew.json`.

        Args:
            input_dict: `statistics` and `anomalies`.
            output_dict: `found`.
            exec_properties: An empty dictionary.

        Raises:
            TaskDataError: naming each anomaly.
        """
        statistics = artifact_utils.get_single_instance(input_dict["statistics"])
        found = anomalies_of(artifact_utils.get_single_instance(input_dict["anomalies"]))
        folder = artifact_utils.get_single_uri(output_dict["found"])
        storage.write_json(os.path.join(folder, FOUND_FILE), found)
        skew = find_skew(*(statistics_of(statistics, split).datasets[0] for split in _SPLITS))
        storage.write_json(os.path.join(folder, SKEW_FILE), skew)
        if found:
            keep_files(folder, FOUND_FILE, SKEW_FILE)
            raise TaskDataError(
                f"the labelled records do not fit the task: {anomalies_text(found)}. Its schema is that of "
                "TaskSchemaGen"
            )
