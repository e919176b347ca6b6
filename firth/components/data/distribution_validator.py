"""The component DistributionValidator."""

import logging
import os
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow_data_validation as tfdv
from tensorflow_metadata.proto.v0 import anomalies_pb2, schema_pb2, statistics_pb2
from tfx import types
from tfx.components.example_validator.executor import DEFAULT_FILE_NAME
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.types.artifact import Artifact
from tfx.utils import io_utils

from firth import storage
from firth.components.anomaly_validator import anomalies_of, anomalies_text, splits_of, statistics_of
from firth.components.artifact_folders import keep_files
from firth.components.artifacts import Distances
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.recipes.base.errors import suggest
from firth.recipes.run.validation import TaskValidation, Validation

FOUND_FILE = "distances.json"
# The split that a model learns from, which requests are compared with.
TRAIN = "train"
_MEASURES = {"L_INFTY": "infinity_norm", "JENSEN_SHANNON_DIVERGENCE": "jensen_shannon_divergence"}
logger = logging.getLogger(__name__)
DRIFT, SKEW = "drift", "skew"
_FIELDS = {DRIFT: "drift_comparator", SKEW: "skew_comparator"}


class DistributionError(ValueError):
    """The data of a run are further from others than the recipe allows."""


class Executor(base_executor.BaseExecutor):
    """Compares the statistics of one run."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the anomalies of each split, and `distances.json`.

        Raises:
            UnknownFeatureError: for a feature that the schema does not have.
        """
        validation = TaskValidation.from_json(exec_properties["validation"])
        given = {name: only_artifact(input_dict, name) for name, each in input_dict.items() if each}
        schema = io_utils.SchemaReader().read(io_utils.get_only_uri_in_dir(given["schema"].uri))
        schema = with_distances(schema, {DRIFT: validation.drift, SKEW: validation.skew})
        anomalies = artifact_utils.get_single_instance(output_dict["anomalies"])
        anomalies.split_names = given["statistics"].split_names
        measured: list[dict[str, Any]] = []
        for split in splits_of(given["statistics"]):
            others, of_split = _others(given, split), schema
            if (previous := others.get("previous_statistics")) is not None:
                # TFDV takes features that the last run lacked, such as those of a new source, for anomalies.
                of_split, new = without_new(schema, previous)
                if new:
                    logger.warning("the last run has nothing to compare with of %s", ", ".join(new))
            found = tfdv.validate_statistics(statistics_of(given["statistics"], split), of_split, **others)
            folder = artifact_utils.get_split_uri([anomalies], split)
            with storage.whole_file(os.path.join(folder, DEFAULT_FILE_NAME), "wb") as file:
                file.write(found.SerializeToString())
            measured += distances_of(found, split)
        folder = artifact_utils.get_single_uri(output_dict["distances"])
        storage.write_json(os.path.join(folder, FOUND_FILE), measured)
        if too_large := anomalies_of(anomalies):
            problem = f"the data are further from others than the recipe allows: {anomalies_text(too_large)}"
            refused = [] if "taken_statistics" in given else too_large
            refused = refused or [each for each in too_large if each["feature"] not in _drifted(measured)]
            if validation.stops and refused:
                keep_files(folder, FOUND_FILE)
                raise DistributionError(
                    f"{problem}. If they are right, raise the distances of validation, or say "
                    "validation.on_anomaly: report"
                )
            logger.warning("%s", problem)


def _drifted(measured: list[dict[str, Any]]) -> set[str]:
    """Returns the features that are too far from the last run, and not from requests."""
    beyond: dict[str, set[str]] = {DRIFT: set(), SKEW: set()}
    for each in measured:
        if each["distance"] > each["threshold"]:
            beyond[each["comparison"]].add(each["feature"])
    return beyond[DRIFT] - beyond[SKEW]


def _others(given: dict[str, Artifact], split: str) -> dict[str, statistics_pb2.DatasetFeatureStatisticsList]:
    """Returns the statistics that those of a split are compared with, by TFDV's keywords."""
    others = {}
    previous, serving = given.get("previous_statistics"), given.get("serving_statistics")
    if previous is not None and split in splits_of(previous):
        others["previous_statistics"] = statistics_of(previous, split)
    if serving is not None and split == TRAIN:
        others["serving_statistics"] = statistics_of(serving, splits_of(serving)[0])
    return others


def distances_of(anomalies: anomalies_pb2.Anomalies, split: str) -> Iterator[dict[str, Any]]:
    """Yields the measurements: `comparison`, `split`, `feature`, `measure`, `distance` and `threshold`."""
    for info in anomalies.drift_skew_info:
        for kind, found in ((DRIFT, info.drift_measurements), (SKEW, info.skew_measurements)):
            for each in found:
                name = anomalies_pb2.DriftSkewInfo.Measurement.Type.Name(each.type)
                yield {
                    "comparison": kind,
                    "split": split,
                    "feature": "/".join(info.path.step),
                    "measure": _MEASURES.get(name, name.lower()),
                    "distance": each.value,
                    "threshold": each.threshold,
                }


class UnknownFeatureError(ValueError):
    """A recipe names a feature that the schema of the records does not have."""


def with_distances(
    schema: schema_pb2.Schema, distances: Mapping[str, Mapping[str, float]]
) -> schema_pb2.Schema:
    """Returns a schema that also states the largest distances of a recipe.

    Example:

    >>> from tensorflow_metadata.proto.v0.schema_pb2 import BYTES, Feature, Schema
    >>> records = Schema(feature=[Feature(name="label", type=BYTES)])
    >>> with_distances(records, {"drift": {"label": 0.5}}).feature[0].drift_comparator.infinity_norm.threshold
    0.5
    """
    changed = schema_pb2.Schema()
    changed.CopyFrom(schema)
    features = {each.name: each for each in changed.feature}
    for comparison, largest in distances.items():
        for name, distance in largest.items():
            if name not in features:
                raise UnknownFeatureError(
                    f"validation.{comparison}.{name}: the schema of the records has no feature {name!r}; "
                    f"{suggest(name, features)}"
                )
            comparator = getattr(features[name], _FIELDS[comparison])
            is_category = features[name].type == schema_pb2.BYTES
            measure = comparator.infinity_norm if is_category else comparator.jensen_shannon_divergence
            measure.threshold = distance
    return changed


def without_new(
    schema: schema_pb2.Schema, previous: statistics_pb2.DatasetFeatureStatisticsList
) -> tuple[schema_pb2.Schema, list[str]]:
    """Returns a schema that limits no drift of features that the last run did not have, and their names."""
    known = {each.path.step[0] for dataset in previous.datasets for each in dataset.features}
    changed = schema_pb2.Schema()
    changed.CopyFrom(schema)
    new = [each for each in changed.feature if each.HasField(_FIELDS[DRIFT]) and each.name not in known]
    for each in new:
        each.ClearField(_FIELDS[DRIFT])
    return changed, [each.name for each in new]


class DistributionValidator(Component, executor=Executor):
    """Compares statistics with those of an earlier run, and with those of what a served model is asked.

    TFX's ExampleValidator validates statistics by a schema alone. This calls the same function of TensorFlow
    Data Validation with the other statistics too. Largest distances are those of the recipe, and those that
    the schema itself states for other features (`drift_comparator`, `skew_comparator`).

    Args:
        statistics: Output of StatisticsGen, which the schema fits.
        schema: Schema of the records.
        validation: Part of the recipe, with the largest distances.
        **channels: `previous_statistics`, of an earlier run; `taken_statistics`, the same as `statistics` if
            an earlier run has taken these data under `on_anomaly: report`, so that their drift does not stop
            this one; and `serving_statistics`, of one split. Each may be left out.

    Outputs:
        anomalies: As ExampleValidator writes them, with the measured distances (`drift_skew_info`).
        distances: `distances.json`, a list of the rows that `distances_of` yields.
    """

    SPEC_CLASS = declare(
        inputs={"statistics": standard_artifacts.ExampleStatistics, "schema": standard_artifacts.Schema},
        optional_inputs={
            "previous_statistics": standard_artifacts.ExampleStatistics,
            "taken_statistics": standard_artifacts.ExampleStatistics,
            "serving_statistics": standard_artifacts.ExampleStatistics,
        },
        outputs={"anomalies": standard_artifacts.ExampleAnomalies, "distances": Distances},
        parameters={"validation": str},
    )

    def __init__(
        self,
        statistics: types.BaseChannel,
        schema: types.BaseChannel,
        validation: Validation,
        **channels: types.BaseChannel | None,
    ) -> None:
        super().__init__(statistics=statistics, schema=schema, validation=validation.to_json(), **channels)
