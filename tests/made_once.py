"""Folders that one worker makes and all workers of a run of tests read."""

import os
import pathlib
import shutil
from collections.abc import Callable

import filelock
import pytest


class MadeOnce:
    """Makes each named folder once in a run of tests, whichever worker asks for it first.

    Example:

        bundle = made_once("tiny_bert", write_bundle)
    """

    def __init__(self, place: pathlib.Path) -> None:
        self._place = place

    def __call__(self, name: str, make: Callable[[pathlib.Path], object]) -> pathlib.Path:
        """Returns the folder of a name. Tests read it; one that writes in it works on a copy.

        Args:
            name: The folder's name, the same in all files of tests that share it.
            make: Function that fills the folder, which does not exist yet.
        """
        folder = self._place / name
        with filelock.FileLock(f"{folder}.lock"):
            if not folder.exists():
                unfinished = self._place / f"{name}.unfinished"
                shutil.rmtree(unfinished, ignore_errors=True)
                make(unfinished)
                unfinished.rename(folder)
        return folder


_of_run: list[MadeOnce] = []


@pytest.fixture(scope="session", autouse=True)
def made_once(tmp_path_factory) -> MadeOnce:
    """Returns the folders that are made once in this run of tests."""
    own = tmp_path_factory.getbasetemp()
    # Each worker of xdist has a folder in that of the run.
    folders = MadeOnce(own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own)
    _of_run[:] = [folders]
    return folders


def made_once_of_run() -> MadeOnce:
    """Returns the fixture `made_once` to functions that are called in tests and take no fixtures."""
    return _of_run[0]
