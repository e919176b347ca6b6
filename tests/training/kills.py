"""Trainings that are killed and resume: the files that a kill leaves, and the steps made after it."""

import contextlib
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator, Mapping
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


def ends_itself(number: int, step: int, saved: int) -> contextlib.AbstractContextManager[None]:
    """Sends a signal to this process once a training in this block has made a step and some checkpoints.

    Args:
        number: Number of the signal.
        step: First step after which it may be sent.
        saved: Checkpoints that are whole by then.
    """
    return calls_after(step, saved, lambda: os.kill(os.getpid(), number))


@contextlib.contextmanager
def calls_after(step: int, saved: int, call: Callable[[], object]) -> Iterator[None]:
    """Calls a function once a training in this block has made a step and some checkpoints.

    Checkpoints are written at the same time, by another thread, as when a signal comes from elsewhere.
    """
    append, write, whole, called = History.append, Checkpoints._write, [], []

    def write_and_count(self, final, *arguments):
        write(self, final, *arguments)
        whole.append(final)

    def append_and_call(self, line):
        append(self, line)
        if not called and line["step"] >= step and len(whole) >= saved:
            called.append(line["step"])
            call()

    with (
        mock.patch.object(History, "append", append_and_call),
        mock.patch.object(Checkpoints, "_write", write_and_count),
    ):
        yield
