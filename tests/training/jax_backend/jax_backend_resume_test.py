"""A run on JAX that is ended resumes to the same result, on JAX, on more devices and on TensorFlow."""

import importlib.util
import shutil
import signal

import numpy as np
import pytest

from tests.training.artifacts import tiny_recipe, write_artifact
from tests.training.pretraining_resume_test import curve, run, start_and_end

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
STEPS = 36


def recipe(**settings):
    return tiny_recipe(
        steps=STEPS, learning_rate=1e-3, **{"steps_per_execution": 3, "backend": "jax", **settings}
    )


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_ended_and_resumed_equals_uninterrupted(number, tmp_path):
    write_artifact(tmp_path / "artifact")
    weights = run(recipe(), tmp_path / "artifact", tmp_path / "run", tmp_path / "whole").get_weights()
    expected = curve(tmp_path / "run")
    places = tmp_path / "first", tmp_path / "ended"
    status, _ = start_and_end(number, recipe(), tmp_path / "artifact", *places, 20, saved=2)
    assert status == (143 if number == signal.SIGTERM else -number)
    made = len(curve(tmp_path / "first"))
    assert 20 <= made < STEPS
    for name, settings, tolerance in (
        ("jax", {}, 0),
        ("jax-2", {"strategy": "data_parallel", "replicas": 2}, 1e-4),
        ("jax-4", {"strategy": "data_parallel", "replicas": 4}, 1e-4),
        ("tensorflow", {"backend": "tensorflow"}, 1e-4),
    ):
        shutil.copytree(tmp_path / "ended", tmp_path / f"then-{name}")
        resumed = run(recipe(**settings), tmp_path / "artifact", tmp_path / name, tmp_path / f"then-{name}")
        assert len(curve(tmp_path / name)) == STEPS
        for line, other in zip(expected, curve(tmp_path / name), strict=True):
            assert other[:3] == pytest.approx(line[:3], rel=tolerance, abs=tolerance), (name, line[0])
        for one, other in zip(weights, resumed.get_weights(), strict=True):
            np.testing.assert_allclose(other, one, rtol=0, atol=10 * tolerance)
