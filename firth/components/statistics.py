"""What StatisticsGen measured, read from its artifact."""

from tensorflow_metadata.proto.v0 import statistics_pb2
from tfx.types import artifact_utils
from tfx.types.artifact import Artifact
from tfx.utils import io_utils

from firth import storage


def statistics_of(artifact: Artifact, split: str) -> statistics_pb2.DatasetFeatureStatisticsList:
    """Returns the statistics of a split."""
    path = io_utils.get_only_uri_in_dir(artifact_utils.get_split_uri([artifact], split))
    with storage.open_file(path) as file:
        return statistics_pb2.DatasetFeatureStatisticsList.FromString(file.read())


def splits_of(artifact: Artifact) -> list[str]:
    """Returns the names of an artifact's splits."""
    names: list[str] = artifact_utils.decode_split_names(artifact.split_names)
    return names
