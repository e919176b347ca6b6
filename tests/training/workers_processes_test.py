"""Two processes on this machine that train one model: their weights are those of a single process."""

import shutil
import signal
import time

import numpy as np
import pytest

from firth.models import load_model
from firth.training import read_history
from firth.training.history import HISTORY_FILE
from tests.training.artifacts import tiny_recipe, write_artifact, write_split
from tests.training.train_replicas import STEPS, recipes
from tests.training.train_tiny import main
from tests.training.worker_processes import started

CURVE = ("step", "loss", "gradient_norm", "learning_rate", "tokens")
EVERY = 6


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("artifact")
    write_artifact(directory)
    write_split(directory, 8, split="eval", first=100)
    return directory


@pytest.fixture(scope="module")
def one(artifact, tmp_path_factory):
    """The curve and the weights of a single process, with dropout and clipping."""
    directory = tmp_path_factory.mktemp("one")
    command = arguments(recipes(1)["bert"], artifact, directory)
    main(*command)
    return results(directory)


def several():
    recipe = recipes(1)["bert"]
    training = {
        "strategy": "multi_worker_mirrored",
        "checkpoint_every_steps": EVERY,
        "steps_per_execution": 2,
    }
    return recipe.model_copy(update={"training": recipe.training.model_copy(update=training)})


def arguments(recipe, artifact, directory, index=0):
    """All workers have one folder of checkpoints; what the others than the chief write is their own."""
    own = [directory / f"run-{index}", directory / "checkpoints", directory / f"weights-{index}.npz"]
    return [recipe.to_json(), *map(str, (artifact, *own))]


def commands(artifact, directory):
    return [["tests.training.train_tiny", *arguments(several(), artifact, directory, i)] for i in (0, 1)]


def results(directory, index=0):
    weights = np.load(directory / f"weights-{index}.npz")
    return read_history(directory / "run-0"), [weights[name] for name in weights.files]


def assert_equal(one, other):
    (curve, weights), (other_curve, other_weights) = one, other
    assert [line["step"] for line in other_curve] == list(range(1, STEPS + 1))
    for line, other_line in zip(curve, other_curve, strict=True):
        for key in CURVE:
            assert line[key] == pytest.approx(other_line[key], rel=1e-5), (line["step"], key)
    assert curve[-1]["held_out_loss"] == pytest.approx(other_curve[-1]["held_out_loss"], rel=1e-5)
    for value, other_value in zip(weights, other_weights, strict=True):
        np.testing.assert_allclose(value, other_value, rtol=0, atol=1e-6)


@pytest.mark.repeated
def test_two_processes_equal_one(one, artifact, tmp_path):
    """Each reads half of the rows of a batch, and the chief alone writes."""
    with started(commands(artifact, tmp_path)) as processes:
        for process in processes:
            _, errors = process.communicate(timeout=900)
            assert process.returncode == 0, errors[-4000:]
    assert_equal(one, results(tmp_path))
    for value, other in zip(results(tmp_path)[1], results(tmp_path, 1)[1], strict=True):
        np.testing.assert_array_equal(value, other)
    assert not (tmp_path / "run-1").exists()
    # The rows are read from the files by both together, and kept once.
    assert not (tmp_path / "checkpoints" / "worker-1" / "rows").exists()
    assert len(list((tmp_path / "checkpoints" / "rows").iterdir())) == 1


@pytest.mark.repeated
def test_a_killed_worker_ends_the_other_and_both_go_on(one, artifact, tmp_path):
    with started(commands(artifact, tmp_path)) as (chief, worker):
        deadline = time.monotonic() + 900
        while len(list((tmp_path / "checkpoints").glob("*/step-*/_SUCCESS"))) < 2:
            assert chief.poll() is None and worker.poll() is None, "a process ended by itself"
            assert time.monotonic() < deadline, "the processes make no steps"
            time.sleep(0.002)
        worker.send_signal(signal.SIGKILL)
        _, errors = chief.communicate(timeout=300)
    assert chief.returncode == 1 and "WorkerLostError: worker 0 of 2 has lost another" in errors, errors[
        -4000:
    ]
    before = len(read_history(tmp_path / "run-0"))
    assert 2 * EVERY <= before < STEPS
    with started(commands(artifact, tmp_path)) as processes:
        for process in processes:
            _, errors = process.communicate(timeout=900)
            assert process.returncode == 0, errors[-4000:]
    assert_equal(one, results(tmp_path))


MANY = 150


def train_worker(folder, recipe):
    """The command, as each process gets it."""
    (folder / "recipe.yaml").write_text(recipe.to_json())
    places = ["--output", folder / "model", "--checkpoints", folder / "checkpoints"]
    return ["firth", "train-worker", folder / "recipe.yaml", "--rows", folder / "rows", *places]


@pytest.mark.repeated
def test_a_notice_to_one_process_of_the_command_ends_both_and_both_go_on(artifact, tmp_path):
    """By `firth train-worker`, the second time to the model that is served."""
    shutil.copytree(artifact, tmp_path / "rows")
    training = {"strategy": "multi_worker_mirrored", "steps": MANY, "checkpoint_every_steps": MANY}
    command = train_worker(tmp_path, tiny_recipe(**training, steps_per_execution=1))
    curve = tmp_path / "model" / "model_run"
    with started([command, command]) as processes:
        deadline = time.monotonic() + 900
        while not (curve / HISTORY_FILE).exists() or len(read_history(curve)) < 3:
            assert all(each.poll() is None for each in processes), "a process ended by itself"
            assert time.monotonic() < deadline, "the processes make no steps"
            time.sleep(0.002)
        processes[1].send_signal(signal.SIGTERM)
        ends = [(each.communicate(timeout=300)[1], each.returncode) for each in processes]
    assert [status for _, status in ends] == [143, 143], ends
    made = len(read_history(curve))
    assert 3 <= made < MANY
    with started([command, command]) as processes:
        for process in processes:
            _, errors = process.communicate(timeout=900)
            assert process.returncode == 0, errors[-4000:]
    assert [line["step"] for line in read_history(curve)] == list(range(1, MANY + 1))
    assert load_model(tmp_path / "model" / "bundle").built
    assert (tmp_path / "model" / "Format-Serving" / "saved_model.pb").exists()
