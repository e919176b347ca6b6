"""The differences that are found between records to train on and records to evaluate on."""

import pytest
from tensorflow_metadata.proto.v0 import statistics_pb2

from firth.tasks.labelled.validation import find_skew


def split(**features):
    """Statistics of a split: counts of labels, mean and spread of numbers, or bytes of texts."""
    made = statistics_pb2.DatasetFeatureStatistics()
    for name, values in features.items():
        feature = made.features.add()
        feature.path.step.append(name)
        if isinstance(values, dict):
            for label, count in values.items():
                feature.string_stats.rank_histogram.buckets.add(label=label, sample_count=count)
        elif isinstance(values[0], float):
            feature.num_stats.mean, feature.num_stats.std_dev, count = values
            feature.num_stats.common_stats.num_non_missing = count
        else:
            feature.string_stats.avg_length, count = values
            feature.string_stats.common_stats.num_non_missing = count
            feature.string_stats.common_stats.avg_num_values = 1
    return made


@pytest.mark.parametrize(("train", "evaluated", "told"), [
    ({"label": {"a": 500, "b": 500}}, {"label": {"a": 52, "b": 48}}, []),
    ({"label": {"a": 5, "b": 5}}, {"label": {"a": 2, "b": 8}}, []),
    ({"label": {"a": 900, "b": 100}}, {"label": {"a": 50, "b": 50}},
     ["90.0% of train and 50.0% of eval have the label 'a'",
      "10.0% of train and 50.0% of eval have the label 'b'"]),
    ({"label": {"a": 900}}, {"label": {"a": 899, "b": 1}},
     ["0.0% of train and 0.1% of eval have the label 'b'; no record to train on has it"]),
    ({"label": {"a": 899, "b": 1}}, {"label": {"a": 900}}, []),
    ({"label": {"a text": 1, "another": 1, "this": 1}}, {"label": {"that": 1}}, []),
    ({"label": {str(number): 2 for number in range(999)}}, {"label": {"that": 1}}, []),
    ({"label": (2.0, 1.0, 1000)}, {"label": (2.1, 1.0, 100)}, []),
    ({"label": (2.0, 1.0, 1000)}, {"label": (3.0, 1.0, 100)},
     ["labels are 2 in train and 3 in eval, on average"]),
    ({"label": (2.0, 1.0, 1000)}, {"label": (3.0, 1.0, 5)}, []),
    ({"text": (20, 100)}, {"text": (29, 100)}, []),
    ({"text": (20, 100)}, {"text": (45, 100)}, ["text has 20 bytes in train and 45 in eval, on average"]),
    ({"text": (20, 100)}, {"text": (45, 10)}, []),
    ({"id": (20, 100)}, {"id": (45, 100)}, []),
])  # fmt: skip
def test_what_chance_makes_is_not_told(train, evaluated, told):
    assert [each["said"] for each in find_skew(split(**train), split(**evaluated))] == told
