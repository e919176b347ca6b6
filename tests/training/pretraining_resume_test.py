"""Runs that resume: after a real kill at a random step, with more steps, with other moments."""

import random
import signal

import numpy as np
import pytest

from firth.recipes import MuonConfig
from firth.training import read_history, train
from tests.fresh_process import run_python
from tests.training.artifacts import tiny_recipe
from tests.training.kills import copies_after, steps_made

STEPS = 24
ENDING = """
import sys
from tests.training.kills import ends_itself
from tests.training.train_tiny import main
number, step, saved, *arguments = sys.argv[1:]
with ends_itself(int(number), int(step), int(saved)):
    main(*arguments)
"""
CURVE = ("step", "loss", "mlm_loss", "gradient_norm", "learning_rate", "tokens")


@pytest.fixture(scope="module")
def recipe():
    # Blocks of a few steps, so that a signal comes between two.
    return tiny_recipe(steps=STEPS, learning_rate=0.05, checkpoint_every_steps=7, steps_per_execution=3)


@pytest.fixture(scope="module")
def uninterrupted(artifact, recipe, tmp_path_factory):
    directory = tmp_path_factory.mktemp("uninterrupted")
    model = run(recipe, artifact, directory / "run", directory / "checkpoints")
    return model.get_weights(), curve(directory / "run")


def run(recipe, artifact, run_directory, checkpoint_root):
    patterns = [str(artifact / "Split-train" / "*")]
    return train(recipe, patterns, str(artifact / "tokenizer"), str(run_directory), str(checkpoint_root))


def curve(directory):
    return [tuple(line[name] for name in CURVE) for line in read_history(directory)]


def start_and_end(number, recipe, artifact, run_directory, checkpoint_root, step, saved=0):
    """Runs a training in a process that sends a signal to itself after a step and some checkpoints; returns
    its status and its standard error."""
    places = artifact, run_directory, checkpoint_root
    done = run_python(
        ["-c", ENDING, str(int(number)), str(step), str(saved), recipe.to_json(), *map(str, places)]
    )
    return done.returncode, done.stderr


@pytest.mark.repeated
def test_killed_and_resumed_equals_uninterrupted(artifact, recipe, uninterrupted, tmp_path):
    weights, expected = uninterrupted
    step = random.Random(1).randint(8, STEPS - 4)
    places = tmp_path / "first", tmp_path / "checkpoints"
    status, _ = start_and_end(signal.SIGKILL, recipe, artifact, *places, step, saved=1)
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
    (said,) = [record.getMessage() for record in caplog.records if "resumes" in record.getMessage()]
    # Two steps of warm-up to 0.01, then down to 0 at the last step.
    assert said == (
        "the run resumes at step 3 with training.steps: 5 instead of 3; the rate of its next update "
        "is 0.00667, where it would have been 0"
    )
    assert [line["learning_rate"] for line in read_history(tmp_path / "third")][3:] == pytest.approx(
        [0.02 / 3, 0.01 / 3]
    )
    # Fewer steps than were made are another run, which leaves the longer one as it is.
    with steps_made() as made:
        run(tiny_recipe(steps=1), artifact, tmp_path / "fourth", tmp_path / "checkpoints")
    assert made == [1] and steps("fourth") == [1]
    with steps_made() as made:
        again = run(tiny_recipe(steps=5), artifact, tmp_path / "fifth", tmp_path / "checkpoints")
    assert made == []
    for one, other in zip(longer.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    # So is a changed recipe.
    with steps_made() as made:
        run(tiny_recipe(steps=1, learning_rate=0.02), artifact, tmp_path / "sixth", tmp_path / "checkpoints")
    assert made == [1]


@pytest.mark.repeated
@pytest.mark.usefixtures("eager")
def test_it_goes_on_from_moments_in_bfloat16(artifact, tmp_path):
    """Those of Muon for matrices, and those of AdamW for what is no matrix."""
    recipe = tiny_recipe(steps=3, checkpoint_every_steps=2)
    optimizer = MuonConfig(moments="bfloat16", learning_rate=0.01, warmup_steps=0, schedule="constant")
    training = recipe.training.model_copy(update={"optimizer": optimizer})
    recipe = recipe.model_copy(update={"training": training})
    with copies_after(tmp_path / "whole", {3: tmp_path / "checkpoints"}):
        whole = run(recipe, artifact, tmp_path / "first", tmp_path / "whole").get_weights()
    with steps_made() as made:
        resumed = run(recipe, artifact, tmp_path / "second", tmp_path / "checkpoints").get_weights()
    assert made == [3]
    for value, expected in zip(resumed, whole, strict=True):
        np.testing.assert_array_equal(value, expected)
