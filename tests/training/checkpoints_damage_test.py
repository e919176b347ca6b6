"""Checkpoints whose files have the right sizes and wrong bytes, and what is saved next to such ones."""

import os

import numpy as np
import pytest
import tensorflow as tf

from firth.training.checkpoints import Checkpoints, Progress, newest_state


def save_two(directory):
    weight = tf.Variable(np.zeros(100, "float32"))
    checkpoints = Checkpoints(str(directory), {"weight": weight})
    for step in (5, 10):
        weight.assign(np.full(100, step))
        checkpoints.save(Progress(step))
    weight.assign(np.full(100, 99.0))
    return checkpoints, weight


def spoil(path):
    size = os.path.getsize(path)
    path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))
    assert os.path.getsize(path) == size


@pytest.mark.parametrize("name", ["variables.data-00000-of-00001", "variables.index"])
def test_one_with_wrong_bytes_is_passed_over_and_told(tmp_path, caplog, name):
    checkpoints, weight = save_two(tmp_path)
    spoil(tmp_path / "step-0000000010" / name)
    assert checkpoints.restore() == Progress(5)
    assert set(weight.numpy()) == {5.0}
    assert f"the checkpoint {tmp_path / 'step-0000000010'} is damaged" in caplog.text


def test_the_state_of_one_with_a_wrong_index_is_that_of_the_one_before(tmp_path):
    save_two(tmp_path)
    spoil(tmp_path / "step-0000000010" / "variables.index")
    saved = newest_state(str(tmp_path))
    assert saved is not None and set(saved["weight"]) == {5.0}


def test_what_is_saved_stays_next_to_damaged_ones_of_later_steps(tmp_path):
    checkpoints, weight = save_two(tmp_path)
    for step in ("05", "10"):
        spoil(tmp_path / f"step-00000000{step}" / "variables.data-00000-of-00001")
    assert checkpoints.restore() == Progress()
    weight.assign(np.full(100, 3.0))
    checkpoints.save(Progress(3))
    assert checkpoints.restore() == Progress(3)
    assert set(weight.numpy()) == {3.0}
