"""A real process, really killed at a random step, goes on as if nothing had been."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

from firth.recipes import MuonConfig
from firth.training import read_history, train
from tests.training.artifacts import tiny_recipe, write_artifact
from tests.training.kills import steps_made

STEPS = 120
CURVE = ("step", "loss", "mlm_loss", "nsp_loss", "gradient_norm", "learning_rate", "tokens")


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("artifact")
    write_artifact(directory)
    return directory


@pytest.fixture(scope="module")
def recipe():
    # Blocks of a few steps, so that a signal comes between two.
    return tiny_recipe(steps=STEPS, checkpoint_every_steps=7, steps_per_execution=3)


def optimise_graphs():
    """Optimises graphs as in the process that is killed: sums in another order differ in their last bit."""
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


@pytest.fixture(scope="module")
def uninterrupted(artifact, recipe, tmp_path_factory):
    optimise_graphs()
    directory = tmp_path_factory.mktemp("uninterrupted")
    model = run(recipe, artifact, directory / "run", directory / "checkpoints")
    return model.get_weights(), curve(directory / "run")


def run(recipe, artifact, run_directory, checkpoint_root):
    patterns = [str(artifact / "Split-train" / "*")]
    return train(recipe, patterns, str(artifact / "tokenizer"), str(run_directory), str(checkpoint_root))


def curve(directory):
    return [tuple(line[name] for name in CURVE) for line in read_history(directory)]


def start_and_send(number, recipe, artifact, run_directory, checkpoint_root, step, saved=0):
    """Returns the process, ended by a signal after a step and some checkpoints, and what it wrote on standard
    error."""
    command = [sys.executable, "-m", "tests.training.train_tiny", recipe.to_json(), artifact, run_directory]
    process = subprocess.Popen([*command, checkpoint_root], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while len(read_history(run_directory)) < step or len(list(checkpoint_root.glob("*/step-*"))) < saved:
        assert process.poll() is None, "the process ended by itself"
        assert time.monotonic() < deadline, "the process makes no steps"
        time.sleep(0.002)
    process.send_signal(number)
    _, errors = process.communicate()
    return process.returncode, errors


def test_killed_and_resumed_equals_uninterrupted(artifact, recipe, uninterrupted, tmp_path):
    optimise_graphs()
    weights, expected = uninterrupted
    step = random.Random(1).randint(8, STEPS // 3)
    places = tmp_path / "first", tmp_path / "checkpoints"
    status, _ = start_and_send(signal.SIGKILL, recipe, artifact, *places, step, saved=1)
    assert status == -signal.SIGKILL
    killed_at = len(read_history(tmp_path / "first"))
    with steps_made() as steps:
        resumed = run(recipe, artifact, tmp_path / "second", tmp_path / "checkpoints").get_weights()
    assert 8 <= killed_at < STEPS
    # From a checkpoint, of which there is one every seven steps.
    assert steps[0] % 7 == 1 and 8 <= steps[0] <= killed_at + 1
    assert curve(tmp_path / "first")[:killed_at] == expected[:killed_at]
    assert curve(tmp_path / "second") == expected, f"killed at step {killed_at}"
    for one, other in zip(weights, resumed):
        np.testing.assert_array_equal(one, other)


@pytest.mark.repeated
def test_terminated_saves_says_so_and_goes_on(artifact, recipe, uninterrupted, tmp_path):
    recipe = recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"checkpoint_every_steps": STEPS})}
    )
    weights, expected = uninterrupted
    places = tmp_path / "first", tmp_path / "checkpoints"
    status, errors = start_and_send(
        signal.SIGTERM, recipe, artifact, *places, random.Random(2).randint(8, STEPS // 3)
    )
    assert status == 143
    terminated_at = len(read_history(tmp_path / "first"))
    (saved,) = (tmp_path / "checkpoints").glob("*/step-*")
    assert saved.name == f"step-{terminated_at:010d}" and terminated_at < STEPS
    assert f"terminated after step {terminated_at} of {STEPS}; the checkpoint {saved} is saved" in errors
    with steps_made() as steps:
        resumed = run(recipe, artifact, tmp_path / "second", tmp_path / "checkpoints").get_weights()
    assert steps == list(range(terminated_at + 1, STEPS + 1))
    assert curve(tmp_path / "second") == expected
    for one, other in zip(weights, resumed):
        np.testing.assert_array_equal(one, other)


def test_the_curve_falls_and_no_two_steps_are_alike(uninterrupted):
    _, expected = uninterrupted
    assert [line[0] for line in expected] == list(range(1, STEPS + 1))
    losses = np.array([line[1] for line in expected])
    assert losses[-20:].mean() < losses[:20].mean() - 0.5
    assert len(set(losses.tolist())) > STEPS - 3


@pytest.mark.usefixtures("eager")
def test_a_finished_run_makes_no_more_steps_and_goes_on_with_more(artifact, tmp_path, caplog):
    def steps(directory):
        return [line[0] for line in curve(tmp_path / directory)]

    first = run(tiny_recipe(steps=3), artifact, tmp_path / "first", tmp_path / "checkpoints").get_weights()
    with steps_made() as made:
        again = run(
            tiny_recipe(steps=3), artifact, tmp_path / "second", tmp_path / "checkpoints"
        ).get_weights()
    assert made == []
    assert curve(tmp_path / "second") == curve(tmp_path / "first")
    for one, other in zip(first, again):
        np.testing.assert_array_equal(one, other)
    with steps_made() as made:
        longer = run(tiny_recipe(steps=5), artifact, tmp_path / "third", tmp_path / "checkpoints")
    assert (made, steps("third")) == ([4, 5], [1, 2, 3, 4, 5])
    (said,) = [record.getMessage() for record in caplog.records if "goes on" in record.getMessage()]
    # Two steps of warm-up to 0.01, then down to 0 at the last step.
    assert said == (
        "the run goes on from step 3 with training.steps: 5 in the place of 3; the rate of its next update "
        "is 0.00667, where it would have been 0"
    )
    assert [line["learning_rate"] for line in read_history(tmp_path / "third")][3:] == pytest.approx(
        [0.02 / 3, 0.01 / 3]
    )
    # Fewer steps than were made are another run, which leaves the longer one as it is.
    with steps_made() as made:
        run(tiny_recipe(steps=2), artifact, tmp_path / "fourth", tmp_path / "checkpoints")
    assert made == [1, 2] and steps("fourth") == [1, 2]
    with steps_made() as made:
        again = run(tiny_recipe(steps=5), artifact, tmp_path / "fifth", tmp_path / "checkpoints")
    assert made == []
    for one, other in zip(longer.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    # So is a changed recipe.
    with steps_made() as made:
        run(tiny_recipe(steps=3, learning_rate=0.02), artifact, tmp_path / "sixth", tmp_path / "checkpoints")
    assert made == [1, 2, 3]


@pytest.mark.repeated
def test_muon_goes_on_from_its_own_moments(artifact, tmp_path):
    muon = {"kind": "muon", "learning_rate": 0.01, "warmup_steps": 0, "schedule": "constant"}
    short, long = (
        recipe.model_copy(
            update={"training": recipe.training.model_copy(update={"optimizer": MuonConfig(**muon)})}
        )
        for recipe in (tiny_recipe(steps=6), tiny_recipe(steps=12))
    )
    whole = run(long, artifact, tmp_path / "whole", tmp_path / "apart")
    run(short, artifact, tmp_path / "first", tmp_path / "checkpoints")
    with steps_made() as steps:
        resumed = run(long, artifact, tmp_path / "second", tmp_path / "checkpoints")
    assert steps[0] == 7
    for value, other in zip(resumed.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.repeated
def test_moments_in_bfloat16_go_on_exactly(artifact, tmp_path):
    optimizer = {"moments": "bfloat16", "schedule": "constant", "warmup_steps": 1}
    short, long = (_with_optimizer(tiny_recipe(steps=steps), optimizer) for steps in (3, 5))
    run(short, artifact, tmp_path / "run", tmp_path / "checkpoints")
    resumed = run(long, artifact, tmp_path / "run", tmp_path / "checkpoints").get_weights()
    assert [line["step"] for line in read_history(tmp_path / "run")] == list(range(1, 6))
    whole = run(long, artifact, tmp_path / "other", tmp_path / "others").get_weights()
    for value, expected in zip(resumed, whole, strict=True):
        np.testing.assert_array_equal(value, expected)


def _with_optimizer(recipe, changes):
    values = recipe.training.model_dump()
    training = type(recipe.training).model_validate(
        {**values, "optimizer": {**values["optimizer"], **changes}}
    )
    return recipe.model_copy(update={"training": training})
