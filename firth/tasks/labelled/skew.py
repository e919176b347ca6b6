"""Skew between the records to train on and those to evaluate on, from TFX's statistics of both."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tensorflow_metadata.proto.v0 import statistics_pb2

from firth.tasks.labelled.examples import LABEL
from firth.tasks.readers.records import ROLES

# A difference is reported if it is this much larger than chance would make it, and large enough to matter.
_DEVIATIONS = 4.0
_SHARE, _SPREADS, _TIMES = 0.05, 0.25, 1.5
# With fewer records, lengths are not compared: the statistics do not have their spread.
_FEWEST = 30
_MOST_CLASSES = 200

# Of one feature: `statistics_pb2.FeatureNameStatistics`.
Statistics = Any


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
