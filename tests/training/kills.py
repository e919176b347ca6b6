"""Trainings that are killed and go on: what a kill would leave, and the steps that are made after it."""

import contextlib
import pathlib
import shutil
from collections.abc import Iterator, Mapping
from unittest import mock

from firth.training.checkpoints import Checkpoints
from firth.training.history import History


@contextlib.contextmanager
def copies_after(checkpoints: pathlib.Path, places: Mapping[int, pathlib.Path]) -> Iterator[None]:
    """Copies the folder of checkpoints of a training that runs in this block after some of its steps.

    A checkpoint is whole before the step after it, so that a copy does not follow from the machine's speed.

    Args:
        checkpoints: The training's folder of checkpoints.
        places: For each step, the folder to copy to.
    """
    append, start = History.append, Checkpoints.start

    def start_and_wait(self, progress):
        folder = start(self, progress)
        self.wait()
        return folder

    def append_and_copy(self, line):
        append(self, line)
        if line["step"] in places:
            shutil.copytree(checkpoints, places[line["step"]])

    with (
        mock.patch.object(History, "append", append_and_copy),
        mock.patch.object(Checkpoints, "start", start_and_wait),
    ):
        yield


@contextlib.contextmanager
def steps_made() -> Iterator[list[int]]:
    """Yields a list of the steps that trainings in this block make, and write a line of."""
    append, steps = History.append, []

    def append_and_count(self, line):
        steps.append(line["step"])
        append(self, line)

    with mock.patch.object(History, "append", append_and_count):
        yield steps
