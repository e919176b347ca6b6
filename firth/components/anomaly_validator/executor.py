"""The work of AnomalyValidator: writes the anomalies of ExampleValidator, and fails if there are any."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth import storage
from firth.components.anomalies import anomalies_of, anomalies_text
from firth.components.execution import Artifacts, Properties, only_artifact
from firth.components.kept_files import keep_files
from firth.corpus import SourceSchemaError

FOUND_FILE = "anomalies.json"


class Executor(base_executor.BaseExecutor):
    """Validates the anomalies of one ExampleValidator."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `anomalies.json`."""
        found = anomalies_of(only_artifact(input_dict, "anomalies"))
        folder = artifact_utils.get_single_uri(output_dict["found"])
        storage.write_json(os.path.join(folder, FOUND_FILE), found)
        if not found:
            return
        keep_files(folder, FOUND_FILE)
        named = anomalies_text(found)
        inferred = io_utils.get_only_uri_in_dir(only_artifact(input_dict, "inferred").uri)
        raise SourceSchemaError(
            f"the records of the sources differ from the schema {exec_properties['schema_file']}: {named}. "
            "If they are right, edit that schema (min_domain_mass is the least share of known values). If it "
            "is the run folder's own, it can also be deleted: the next run writes a new one. The schema that "
            f"they have now is {inferred}"
        )
