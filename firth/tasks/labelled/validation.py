"""The schema of labelled records, from their task, and skew between their splits, from TFX's statistics."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2, statistics_pb2

from firth.recipes.base.size_units import size_features
from firth.recipes.tasks.task import Task
from firth.tasks.labelled.examples import ANSWER_STARTS, ANSWERS, ID, LABEL, SOURCE
from firth.tasks.readers.records import ROLES
from firth.tasks.readers.row_format import LISTS

BYTES, INT, FLOAT = schema_pb2.BYTES, schema_pb2.INT, schema_pb2.FLOAT
Features = list[schema_pb2.Feature]
# A difference is reported if it is this much larger than chance would make it, and large enough to matter.
_DEVIATIONS = 4.0
_SHARE, _SPREADS, _TIMES = 0.05, 0.25, 1.5
# With fewer records, lengths are not compared: the statistics do not have their spread.
_FEWEST = 30
_MOST_CLASSES = 200

# A `statistics_pb2.FeatureNameStatistics`, of one feature.
Statistics = Any


def task_schema(task: Task) -> str:
    """Returns the schema of records as `firth.tasks.labelled.examples` writes them, as text.

    A schema that is inferred from a few records would take their texts for the only ones that there may be.
    Here texts are any texts, each text that the task reads is there in each record, and a label is one of the
    task's.

    Example:

    >>> from firth.recipes.tasks.classification import Classification
    >>> schema = text_format.Parse(task_schema(Classification(labels=("no", "yes"))), schema_pb2.Schema())
    >>> [(each.name, list(each.string_domain.value)) for each in schema.feature if each.presence.min_fraction]
    [('id', []), ('source', []), ('text', []), ('label', ['no', 'yes'])]
    """
    roles = dict.fromkeys([*ROLES, *task.roles])
    texts = [_feature(role, BYTES, role in task.roles, role in LISTS) for role in roles]
    sizes = [_feature(name, INT, is_required=False) for name in size_features(roles)]
    features = [_feature(ID, BYTES), _feature(SOURCE, BYTES), *texts, *sizes]
    if task.label_type in _LABELS:
        features += _LABELS[task.label_type](task)
    return text_format.MessageToString(schema_pb2.Schema(feature=features))


def _feature(
    name: str, dtype: "schema_pb2.FeatureType", is_required: bool = True, is_list: bool = False
) -> schema_pb2.Feature:
    feature = schema_pb2.Feature(name=name, type=dtype)
    if is_required:
        feature.presence.min_fraction = 1.0
        feature.presence.min_count = 1
    if is_list:
        feature.value_count.min = 1
    elif is_required:
        feature.shape.dim.add(size=1)
    return feature


def _of_names(task: Task, is_list: bool) -> Features:
    feature = _feature(LABEL, BYTES, is_list=is_list)
    if names := getattr(task, "labels", ()):
        feature.string_domain.value.extend(names)
    return [feature]


def _numbers(task: Task) -> Features:
    feature = _feature(LABEL, FLOAT)
    feature.float_domain.disallow_nan = feature.float_domain.disallow_inf = True
    return [feature]


def _answers(task: Task) -> Features:
    # A question without an answer has neither.
    return [_feature(ANSWERS, BYTES, is_required=False), _feature(ANSWER_STARTS, INT, is_required=False)]


# By the task's `label_type`.
_LABELS: Mapping[str, Callable[[Task], Features]] = {
    "class": lambda task: _of_names(task, is_list=False),
    "number": _numbers,
    "choice": lambda task: [_feature(LABEL, INT)],
    "tags": lambda task: _of_names(task, is_list=True),
    "text": lambda task: [_feature(LABEL, BYTES, is_list=True)],
    "spans": _answers,
    "turns": lambda task: [_feature(LABEL, BYTES, is_list=True)],
}


def find_skew(
    train: statistics_pb2.DatasetFeatureStatistics, evaluated: statistics_pb2.DatasetFeatureStatistics
) -> list[dict[str, Any]]:
    """Returns differences between two splits above chance: of labels' shares, numbers, texts' lengths.

    A label that only one of the splits has is reported however rare it is. Such differences are right in some
    data sets, so they are reported and not refused.
    """
    first, second = _by_name(train), _by_name(evaluated)
    found: list[dict[str, Any]] = []
    for name in (LABEL, *ROLES):
        if name in first and name in second:
            found += _differences(name, first[name], second[name])
    return found


def _by_name(statistics: statistics_pb2.DatasetFeatureStatistics) -> dict[str, Statistics]:
    return {"/".join(each.path.step) or each.name: each for each in statistics.features}


def _differences(name: str, train: Statistics, evaluated: Statistics) -> Iterator[dict[str, Any]]:
    if name != LABEL:
        yield from _length_difference(name, train, evaluated)
    elif train.HasField("num_stats"):
        yield from _mean_difference(train, evaluated)
    else:
        yield from _share_differences(train, evaluated)


def _share_differences(train: Statistics, evaluated: Statistics) -> Iterator[dict[str, Any]]:
    first, second = _counts(train), _counts(evaluated)
    if not _are_classes(first):
        return
    of_first, of_second = max(sum(first.values()), 1), max(sum(second.values()), 1)
    for label in sorted(first.keys() | second.keys()):
        shares = first.get(label, 0) / of_first, second.get(label, 0) / of_second
        mean = (first.get(label, 0) + second.get(label, 0)) / (of_first + of_second)
        chance = math.sqrt(mean * (1 - mean) * (1 / of_first + 1 / of_second))
        difference = abs(shares[0] - shares[1])
        is_missing = label not in first
        if is_missing or difference > max(_SHARE, _DEVIATIONS * chance):
            message = f"{shares[0]:.1%} of train and {shares[1]:.1%} of eval have the label {label!r}"
            why = "; no record to train on has it" if is_missing else ""
            yield _difference(LABEL, label, shares[0], shares[1], message + why)


def _are_classes(counts: Mapping[str, float]) -> bool:
    """Returns whether labels are names that recur, and not texts, which all differ."""
    return len(counts) <= _MOST_CLASSES and 2 * len(counts) <= sum(counts.values())


def _counts(statistics: Statistics) -> Mapping[str, float]:
    return {each.label: each.sample_count for each in statistics.string_stats.rank_histogram.buckets}


def _mean_difference(train: Statistics, evaluated: Statistics) -> Iterator[dict[str, Any]]:
    first, second = train.num_stats, evaluated.num_stats
    counts = [max(each.num_stats.common_stats.num_non_missing, 1) for each in (train, evaluated)]
    spread = max(first.std_dev, second.std_dev)
    chance = spread * math.sqrt(sum(1 / count for count in counts))
    if abs(first.mean - second.mean) > max(_SPREADS * spread, _DEVIATIONS * chance):
        message = f"labels are {first.mean:.4g} in train and {second.mean:.4g} in eval, on average"
        yield _difference(LABEL, "mean", first.mean, second.mean, message)


def _length_difference(name: str, train: Statistics, evaluated: Statistics) -> Iterator[dict[str, Any]]:
    counts = [each.string_stats.common_stats.num_non_missing for each in (train, evaluated)]
    lengths = [
        each.string_stats.avg_length * max(each.string_stats.common_stats.avg_num_values, 1.0)
        for each in (train, evaluated)
    ]
    if min(counts) >= _FEWEST and max(lengths) > _TIMES * min(lengths):
        message = f"{name} has {lengths[0]:.0f} bytes in train and {lengths[1]:.0f} in eval, on average"
        yield _difference(name, "bytes", lengths[0], lengths[1], message)


def _difference(feature: str, value: str, train: float, evaluated: float, message: str) -> dict[str, Any]:
    return {"feature": feature, "value": value, "train": train, "eval": evaluated, "said": message}
