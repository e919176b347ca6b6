"""A run by AdaLoRA: its penalty is in the loss, its scores are in the checkpoints, and it is merged."""

import json

import numpy as np
import pytest
import tensorflow as tf

from firth.models import load_model
from firth.tuning import load_adapter
from firth.tuning.adalora import Orthogonality
from tests.tuning.runs import STEPS, adapting, run

ADALORA = {"kind": "adalora", "initial_rank": 3, "target_rank": 1}


@pytest.mark.repeated
def test_the_ranks_fall_to_the_target_and_what_is_left_is_merged(tmp_path):
    recipe = adapting("bert", tmp_path, {**ADALORA, "orthogonality": 100.0})
    run(tmp_path, recipe, served=False)
    model, _ = load_adapter(tmp_path / "model" / "adapter", recipe.base.bundle)
    left = [np.count_nonzero(each.values) for each in model.added.held]
    assert sum(left) == len(left) == 6 and not load_model(tmp_path / "model" / "bundle").added.held
    curve = [json.loads(line) for line in (tmp_path / "run" / "history.jsonl").read_text().splitlines()]
    losses = [row["loss"] for row in curve if "loss" in row]
    assert len(losses) == STEPS and min(losses) > 50


def test_steps_that_are_said_leave_some_to_take_ranks_away_in(tmp_path):
    with pytest.raises(ValueError, match=r"initial_steps: 3 .*method\.final_steps: 1 .* 4 "):
        adapting("bert", tmp_path, {**ADALORA, "initial_steps": 3, "final_steps": 1})


def test_the_penalty_of_vectors_that_are_exactly_orthonormal_has_a_gradient_of_zero():
    """As torch's norm has; the root alone has none there."""
    matrix = tf.Variable(np.eye(2, 3, dtype="float32"))
    with tf.GradientTape() as tape:
        penalty = Orthogonality(1.0, of_columns=False)(matrix)
    np.testing.assert_array_equal(tape.gradient(penalty, matrix), np.zeros((2, 3)))
    assert float(penalty) == 0.0
