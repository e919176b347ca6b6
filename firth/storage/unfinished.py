"""Files and folders that are not whole yet, under names that their writers lock while they live."""

import contextlib
import fcntl
import os
import pathlib
import re
import tempfile
import uuid
from collections.abc import Callable, Iterator

from firth.storage.files import list_folder, remove


def unfinished_file(path: str | os.PathLike[str]) -> contextlib.AbstractContextManager[str]:
    """Gives the path of a new, empty file next to another path; removed at the end if it is still there.

    What processes that were killed have left of the same file is removed. Where a file system has no locks,
    it stays.
    """
    return _unfinished(path, pathlib.Path.touch)


def unfinished_folder(path: str | os.PathLike[str]) -> contextlib.AbstractContextManager[str]:
    """Does as `unfinished_file` does, for a folder."""
    return _unfinished(path, pathlib.Path.mkdir)


def scratch_folder() -> contextlib.AbstractContextManager[str]:
    """Gives a folder of this process alone, among the temporary files of the machine; removed at the end.

    What processes that were killed have left of such folders is removed.
    """
    path = os.path.join(tempfile.gettempdir(), "firth-scratch")
    return _unfinished(path, lambda folder: folder.mkdir(mode=0o700))


@contextlib.contextmanager
def _unfinished(path: str | os.PathLike[str], make: Callable[[pathlib.Path], None]) -> Iterator[str]:
    home, name = os.path.split(os.path.abspath(path))
    os.makedirs(home, exist_ok=True)
    _sweep(home, name)
    unfinished, lock = _make_locked(home, name, make)
    try:
        yield unfinished
    finally:
        with contextlib.suppress(OSError):
            remove(unfinished)
        os.close(lock)


def _make_locked(home: str, name: str, make: Callable[[pathlib.Path], None]) -> tuple[str, int]:
    """Returns the path of what was made, and a descriptor, whose lock ends with the process at the latest."""
    while True:
        unfinished = os.path.join(home, f".{name}.{uuid.uuid4().hex}")
        make(pathlib.Path(unfinished))
        with contextlib.suppress(FileNotFoundError):
            lock = _open(unfinished)
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(unfinished):
                return unfinished, lock
            os.close(lock)
        # Another process has taken it for one that was left, before it was locked.


def _sweep(home: str, name: str) -> None:
    for each in list_folder(home):
        if re.fullmatch(rf"\.{re.escape(name)}\.[0-9a-f]{{32}}", each):
            # It is gone, or it is being written, or it is somebody else's, or there are no locks.
            with contextlib.suppress(OSError):
                _remove_if_left(os.path.join(home, each))


def _remove_if_left(unfinished: str) -> None:
    lock = _open(unfinished)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(unfinished)
    finally:
        os.close(lock)


def _open(unfinished: str) -> int:
    # NFS locks only what is opened for writing.
    return os.open(unfinished, os.O_RDONLY if os.path.isdir(unfinished) else os.O_RDWR)
