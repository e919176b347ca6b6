import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.serving.encoding import parse_rows
from tests.training.artifacts import PAIRS, pair_row, write_rows


def serialized(tmp_path, *rows):
    write_rows(tmp_path / "rows.gz", rows)
    return tf.constant(list(tf.data.TFRecordDataset(str(tmp_path / "rows.gz"), "GZIP").as_numpy_iterator()))


def test_records_are_parsed_with_their_labels(tmp_path):
    rows, negatives = parse_rows(serialized(tmp_path, pair_row(0), pair_row(5)), PAIRS.specs)
    assert {name: (each.dtype.name, tuple(each.shape[1:])) for name, each in rows.items()} == {
        name: (spec.dtype, spec.shape) for name, spec in PAIRS.specs.items()
    }
    for name, values in pair_row(5).items():
        found = rows[name][1].numpy().reshape(-1).tolist()
        assert found[: len(values)] == values and not any(found[len(values) :]), name
    assert not any(each.numpy().any() for each in negatives.values())


def test_too_many_labels_are_refused(tmp_path):
    row = {**pair_row(0), "record_labels": [0.5] * 4}
    with pytest.raises(tf.errors.InvalidArgumentError, match="record_labels: "):
        parse_rows(serialized(tmp_path, row), PAIRS.specs)


def test_labels_may_have_several_numbers_each(tmp_path):
    specs = {"spans": features.Spec("int32", (3, 2)), "score": features.Spec("float32", ())}
    rows, negatives = parse_rows(serialized(tmp_path, {"spans": [1, 2, 3, 4], "score": [2.5]}), specs)
    np.testing.assert_array_equal(rows["spans"], [[[1, 2], [3, 4], [0, 0]]])
    assert rows["score"].numpy().tolist() == [2.5] and negatives["spans"].shape == (1, 3, 2)
