"""Largest distances of a recipe, as the schema of TensorFlow Data Validation states them."""

from collections.abc import Mapping

from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2

from firth.recipes.base.errors import suggest

DRIFT, SKEW = "drift", "skew"
_FIELDS = {DRIFT: "drift_comparator", SKEW: "skew_comparator"}


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
