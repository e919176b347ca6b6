"""Trainings that are killed and go on: what a kill would leave, and the steps that are made after it."""

import contextlib
import pathlib
import shutil
from collections.abc import Iterator, Mapping
from unittest import mock

from firth.training.history import History


@contextlib.contextmanager
def copies_after(checkpoints: pathlib.Path, places: Mapping[int, pathlib.Path]) -> Iterator[None]:
    """Copies the folder of checkpoints of a training that runs in this block after some of its steps.

    Args:
        checkpoints: The training's folder of checkpoints.
        places: For each step, the folder to copy to.
    """
    append = History.append

    def append_and_copy(self, line):
        append(self, line)
        if line["step"] in places:
            shutil.copytree(checkpoints, places[line["step"]])

    with mock.patch.object(History, "append", append_and_copy):
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
