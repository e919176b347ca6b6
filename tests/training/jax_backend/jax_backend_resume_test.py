"""A run on JAX that is ended resumes to the same result, on JAX, on more devices and on TensorFlow."""

import fcntl
import importlib.util
import os
import shutil
import signal

import numpy as np
import pytest

from tests.fresh_process import run_python
from tests.training.artifacts import tiny_recipe
from tests.training.jax_backend.ends_starter import VARIABLE
from tests.training.pretraining_resume_test import curve, run

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed here")
STEPS = 36
ENDING = """
import sys
from firth.training import jax_process
from tests.training.train_tiny import main
jax_process._MODULE = "tests.training.jax_backend.ends_starter"
main(*sys.argv[1:])
"""


def recipe(**settings):
    return tiny_recipe(
        steps=STEPS, learning_rate=1e-3, **{"steps_per_execution": 3, "backend": "jax", **settings}
    )


# Settings of a run that resumes, and how far it may be from the run that nothing ended.
RESUMED = {
    "jax": ({}, 0),
    "jax-2": ({"strategy": "data_parallel", "replicas": 2}, 1e-4),
    "jax-4": ({"strategy": "data_parallel", "replicas": 4}, 1e-4),
    "tensorflow": ({"backend": "tensorflow"}, 1e-4),
}


@pytest.fixture(scope="module")
def uninterrupted(artifact, tmp_path_factory):
    directory = tmp_path_factory.mktemp("uninterrupted")
    model = run(recipe(), artifact, directory / "run", directory / "checkpoints")
    return model.get_weights(), curve(directory / "run")


def start_and_end(number, artifact, run_directory, checkpoint_root, lock):
    """Returns the status of a training that gets a signal after step 20; its process on JAX has ended."""
    arguments = [recipe().to_json(), *map(str, (artifact, run_directory, checkpoint_root))]
    environment = {**os.environ, VARIABLE: f"{int(number)} 20 2 {lock}"}
    done = run_python(["-c", ENDING, *arguments], env=environment)
    with open(lock) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
    return done.returncode


@needs_jax
@pytest.mark.repeated
@pytest.mark.parametrize(
    "number, status, names",
    [
        (signal.SIGKILL, -signal.SIGKILL, ["jax", "jax-4"]),
        (signal.SIGTERM, 143, ["jax", "jax-2", "tensorflow"]),
    ],
    ids=["SIGKILL", "SIGTERM"],
)
def test_ended_and_resumed_equals_uninterrupted(number, status, names, artifact, uninterrupted, tmp_path):
    weights, expected = uninterrupted
    places = artifact, tmp_path / "first", tmp_path / "ended"
    assert start_and_end(number, *places, tmp_path / "lock") == status
    made = len(curve(tmp_path / "first"))
    assert 20 <= made < STEPS
    for name in names:
        settings, tolerance = RESUMED[name]
        shutil.copytree(tmp_path / "ended", tmp_path / f"then-{name}")
        resumed = run(recipe(**settings), artifact, tmp_path / name, tmp_path / f"then-{name}")
        assert len(curve(tmp_path / name)) == STEPS
        for line, other in zip(expected, curve(tmp_path / name), strict=True):
            assert other[:3] == pytest.approx(line[:3], rel=tolerance, abs=tolerance), (name, line[0])
        for one, other in zip(weights, resumed.get_weights(), strict=True):
            np.testing.assert_allclose(other, one, rtol=0, atol=10 * tolerance)
