"""What ExampleValidator found, read from its artifact."""

from tensorflow_metadata.proto.v0 import anomalies_pb2, statistics_pb2
from tfx.types import artifact_utils
from tfx.types.artifact import Artifact
from tfx.utils import io_utils

from firth import storage


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
    names: list[str] = artifact_utils.decode_split_names(artifact.split_names)
    return names
