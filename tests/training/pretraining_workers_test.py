"""The work of one process of several; the others are not there."""

import shutil

import pytest

from firth.training import pretraining
from firth.training.run_start import START_FILE
from firth.training.workers import Workers
from tests.training.artifacts import tiny_recipe, write_artifact, write_bundle
from tests.training.kills import copies_after, steps_made
from tests.training.run_start_test import recipe_on, run


class Second(Workers):
    """The second process, which hears nothing of the first one."""

    def __init__(self, strategy):
        super().__init__(strategy)
        self.index = 1

    def check_same(self, what, number):
        """Nobody is there to differ."""


@pytest.fixture
def artifact(tmp_path):
    write_artifact(tmp_path / "artifact")
    return tmp_path / "artifact"


@pytest.mark.usefixtures("eager")
def test_a_process_that_joins_goes_on_from_what_another_began(artifact, tmp_path, monkeypatch):
    """The folder of the second process lacks the file that the first one wrote at the run's start."""
    recipe = recipe_on(write_bundle(tmp_path / "bundle"), steps=4)
    with copies_after(tmp_path / "c", {3: tmp_path / "killed"}):
        run(recipe, artifact, tmp_path / "first", tmp_path / "c")
    monkeypatch.setattr(pretraining, "Workers", Second)
    with steps_made() as steps:
        run(recipe, artifact, tmp_path / "second", tmp_path / "killed")
    assert steps == [3, 4]
    assert (tmp_path / "first" / START_FILE).exists() and not (tmp_path / "second").exists()


@pytest.mark.parametrize("other", [{}, {"steps": 7}, {"checkpoint_every_steps": 3}])
def test_processes_with_other_blocks_of_steps_are_told_apart(artifact, tmp_path, monkeypatch, other):
    """They would wait for each other without end."""
    told = []

    def check_same(self, what, number):
        told.append(number)
        raise InterruptedError(what)

    monkeypatch.setattr(Workers, "check_same", check_same)
    for training in ({}, other):
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        with pytest.raises(InterruptedError, match="recipe, rows or tokenizer"):
            run(tiny_recipe(**training), artifact, tmp_path / "run", tmp_path / "c")
    assert (told[0] == told[1]) == (not other)
