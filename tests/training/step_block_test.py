import numpy as np
import tensorflow as tf

from firth.training.step import StepResult, build_block

LOSSES = ["mlm", "nsp"]


def test_steps_are_told_one_by_one_with_the_ids_of_their_rows():
    traced = []

    def step(features):
        traced.append(features.shape)
        total = tf.reduce_sum(features)
        return StepResult(total, {"mlm": total + 1.0, "nsp": total + 2.0}, total / 2.0, total, total * 0.1)

    rows = np.arange(10, dtype="float32").reshape(5, 2)
    batches = tf.data.Dataset.from_tensor_slices((np.arange(10).reshape(5, 2), rows))
    iterator = iter(batches)
    block = build_block(step, LOSSES, tf.distribute.get_strategy())
    first, second = block(iterator, 2), block(iterator, 3)
    assert [result.loss for result in (*first.results, *second.results)] == rows.sum(axis=1).tolist()
    assert first.results[1].losses == {"mlm": 6.0, "nsp": 7.0}
    assert first.results[1].gradient_norm == 2.5
    assert first.example_ids.tolist() == [[0, 1], [2, 3]]
    assert second.example_ids.tolist() == [[4, 5], [6, 7], [8, 9]]
    # One compilation for blocks of every length.
    assert len(traced) == 1
