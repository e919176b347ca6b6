"""SIGTERM and Ctrl-C between steps, and when the loop has looked for them for the last time."""

import signal
import threading
from unittest import mock

import numpy as np
import pytest

from firth.training import read_history
from firth.training.checkpoints import Checkpoints
from firth.training.history import History
from firth.training.termination import TrainingTerminated
from tests.training.artifacts import tiny_recipe, write_artifact
from tests.training.kills import ends_itself, steps_made
from tests.training.pretraining_resume_test import run

STEPS = 3
pytestmark = pytest.mark.usefixtures("eager_steps")


@pytest.fixture(scope="module")
def whole(eager_steps, tmp_path_factory):
    """Weights of a run that nothing ends."""
    directory = tmp_path_factory.mktemp("whole")
    write_artifact(directory)
    return run(tiny_recipe(steps=STEPS), directory, directory / "run", directory / "c").get_weights()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("sent", "code", "kind"),
    [
        (signal.SIGTERM, 143, SystemExit),
        pytest.param(signal.SIGINT, 130, KeyboardInterrupt, marks=pytest.mark.repeated),
    ],
)
def test_it_saves_after_its_step_and_goes_on_to_the_same_result(tmp_path, whole, sent, code, kind, caplog):
    write_artifact(tmp_path / "artifact")
    recipe = tiny_recipe(steps=STEPS, steps_per_execution=1)
    places = tmp_path / "artifact", tmp_path / "run", tmp_path / "checkpoints"
    with ends_itself(sent, 1, 0), pytest.raises(TrainingTerminated) as caught:
        run(recipe, *places)
    last = caught.value.step
    assert last == len(read_history(tmp_path / "run")) < STEPS
    (saved,) = (tmp_path / "checkpoints").glob("*/step-*")
    assert saved.name == f"step-{last:010d}" and caught.value.code == code
    assert isinstance(caught.value, kind)
    assert f"step {last} of {STEPS}" in str(caught.value) and str(saved) in str(caught.value)
    with steps_made() as made:
        again = run(recipe, *places)
    assert made == list(range(last + 1, STEPS + 1))
    assert f"the run resumes at step {last} of {STEPS}" in caplog.text
    for one, other in zip(again.get_weights(), whole, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "place",
    [pytest.param((History, "append"), marks=pytest.mark.repeated), (Checkpoints, "_write")],
    ids=["line", "checkpoint"],
)
def test_it_ends_the_run_after_its_last_step_too(tmp_path, place, whole):
    of, name = place
    act, recipe = getattr(of, name), tiny_recipe(steps=STEPS)

    def act_and_terminate(self, *arguments):
        act(self, *arguments)
        if name == "_write" or arguments[0]["step"] == STEPS:
            # Checkpoints are written by another thread than the one that receives signals.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)

    write_artifact(tmp_path / "artifact")
    with mock.patch.object(of, name, act_and_terminate), pytest.raises(TrainingTerminated) as caught:
        run(recipe, tmp_path / "artifact", tmp_path / "first", tmp_path / "checkpoints")
    assert (caught.value.code, caught.value.step) == (143, STEPS)
    with steps_made() as made:
        again = run(recipe, tmp_path / "artifact", tmp_path / "second", tmp_path / "checkpoints")
    assert made == []
    for one, other in zip(again.get_weights(), whole, strict=True):
        np.testing.assert_array_equal(one, other)
