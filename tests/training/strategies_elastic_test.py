"""A run that was started on some replicas resumes on others, with the losses and the weights of one."""

import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from firth.training import read_history
from tests.training.artifacts import write_artifact, write_split
from tests.training.train_replicas import STEPS, recipes

CURVE = ("step", "loss", "gradient_norm", "learning_rate", "tokens")


def arguments(replicas, artifact, directory):
    recipe = recipes(replicas)["bert"]
    training = {"checkpoint_every_steps": STEPS, "steps_per_execution": 2}
    recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update=training)})
    places = [artifact, directory / f"run-{replicas}", directory / "checkpoints", directory / "weights.npz"]
    return [sys.executable, "-m", "tests.training.train_tiny", recipe.to_json(), *map(str, places)]


def results(replicas, artifact, directory):
    """The curve and the weights of a run that is made to its end."""
    subprocess.run(arguments(replicas, artifact, directory), check=True)
    weights = np.load(directory / "weights.npz")
    return read_history(directory / f"run-{replicas}"), [weights[name] for name in weights.files]


@pytest.mark.repeated
def test_a_run_of_two_replicas_goes_on_on_one_and_on_four(tmp_path):
    artifact = tmp_path / "artifact"
    write_artifact(artifact)
    write_split(artifact, 8, split="eval", first=100)
    curve, weights = results(1, artifact, tmp_path / "one")
    process = subprocess.Popen(arguments(2, artifact, tmp_path / "two"))
    deadline = time.monotonic() + 600
    while len(read_history(tmp_path / "two" / "run-2")) < 3:
        assert process.poll() is None, "the process ended by itself"
        assert time.monotonic() < deadline, "the process makes no steps"
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143
    made = len(read_history(tmp_path / "two" / "run-2"))
    assert 3 <= made < STEPS
    for replicas in (1, 4):
        directory = tmp_path / f"then-{replicas}"
        shutil.copytree(tmp_path / "two", directory)
        other_curve, other_weights = results(replicas, artifact, directory)
        assert len(curve) == len(other_curve) == STEPS
        for line, other in zip(curve, other_curve):
            for key in CURVE:
                assert line[key] == pytest.approx(other[key], rel=1e-5), (replicas, line["step"], key)
        for value, other in zip(weights, other_weights, strict=True):
            np.testing.assert_allclose(value, other, rtol=0, atol=1e-6)
