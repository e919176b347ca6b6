"""The component AnomalyValidator, and the reading of anomalies and statistics from their artifacts."""

import os

from tensorflow_metadata.proto.v0 import anomalies_pb2, statistics_pb2
from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.types.artifact import Artifact
from tfx.utils import io_utils

from firth import storage
from firth.components.artifact_folders import keep_files
from firth.components.artifacts import RecordAnomalies
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
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


def anomalies_of(artifact: Artifact) -> list[dict[str, str]]:
    """Returns the anomalies of all splits, each with `feature`, `anomaly` (short) and `description`."""
    found = []
    for split in splits_of(artifact):
        path = io_utils.get_only_uri_in_dir(artifact_utils.get_split_uri([artifact], split))
        with storage.open_file(path) as file:
            anomalies = anomalies_pb2.Anomalies.FromString(file.read())
        named = dict(sorted(anomalies.anomaly_info.items()))
        if anomalies.HasField("dataset_anomaly_info"):
            named["all records"] = anomalies.dataset_anomaly_info
        found += [
            {"feature": name, "anomaly": info.short_description, "description": info.description.rstrip(". ")}
            for name, info in named.items()
        ]
    return found


def anomalies_text(found: list[dict[str, str]]) -> str:
    """Returns anomalies in one line.

    Example:

    >>> anomalies_text([{"feature": "label", "anomaly": "New values", "description": "x (1%)"}])
    'label: New values (x (1%))'
    """
    return "; ".join(f"{each['feature']}: {each['anomaly']} ({each['description']})" for each in found)


def statistics_of(artifact: Artifact, split: str) -> statistics_pb2.DatasetFeatureStatisticsList:
    """Returns the statistics of a split."""
    path = io_utils.get_only_uri_in_dir(artifact_utils.get_split_uri([artifact], split))
    with storage.open_file(path) as file:
        return statistics_pb2.DatasetFeatureStatisticsList.FromString(file.read())


def splits_of(artifact: Artifact) -> list[str]:
    """Returns the names of an artifact's splits."""
    return artifact_utils.decode_split_names(artifact.split_names)
