"""Temporary files of this process: its folder, unfinished files, and local copies of files in buckets."""

import atexit
import contextlib
import fcntl
import functools
import os
import pathlib
import re
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator

from firth.storage.files import files_below, is_folder, list_folder, remove
from firth.storage.paths import gfile_of, is_local

# Python, TensorFlow, Beam and child processes read the place of temporary files from it.
_PLACE = "TMPDIR"
# It gives child processes the place of before.
_LASTING = "FIRTH_LASTING_TMPDIR"
_process = contextlib.ExitStack()


def keep_temporary_files() -> str:
    """Makes a folder the place of all temporary files of this process and its children, and returns it.

    Libraries leave files there: Beam its staged artifacts, AutoGraph the source that it generates. The folder
    is removed when the process ends, or, if it is killed, when the next one makes such a folder.
    """
    folder = _folder()
    os.environ.setdefault(_LASTING, tempfile.gettempdir())
    os.environ[_PLACE] = tempfile.tempdir = folder
    return folder


@contextlib.contextmanager
def keeping_temporary_files() -> Iterator[None]:
    """Does as `keep_temporary_files` for a block, and restores the place of temporary files after it.

    The folder stays until the process ends, because workers that the block started may use it. On a full
    disk, the place stays as it is.
    """
    variables = {name: os.environ.get(name) for name in (_PLACE, _LASTING)}
    before = tempfile.tempdir
    with contextlib.suppress(OSError):
        keep_temporary_files()
    try:
        yield
    finally:
        tempfile.tempdir = before
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def local_copy(path: str | os.PathLike[str]) -> Iterator[str]:
    """Gives a local path of a file or a folder, for a memory map or a reader in C++.

    A local path is given as it is. Another is copied, and the copy is removed when the block ends.

    Args:
        path: File or folder on any file system.
    """
    if is_local(path):
        yield os.fspath(path)
        return
    source = os.fspath(path).rstrip("/")
    with scratch_folder() as folder:
        target = os.path.join(folder, os.path.basename(source))
        if is_folder(source):
            _download(source, target)
        else:
            gfile_of(source).copy(source, target)
        yield target


@functools.cache
def local_folder(path: str | os.PathLike[str]) -> str:
    """Returns a folder on this machine for files that belong to a path and can be made again.

    Args:
        path: Folder on any file system.

    Returns:
        A local path as it is; for another, a folder that lasts as long as the process.
    """
    if is_local(path):
        return os.fspath(path)
    process = contextlib.ExitStack()
    atexit.register(process.close)
    return process.enter_context(scratch_folder())


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


def remove_temporary_files() -> None:
    """Removes the folder of `keep_temporary_files`, for a process that ends without Python's own end."""
    _process.close()


def lasting_temporary_folder() -> str:
    """Returns the folder of temporary files that are to outlive this process, such as the log of an error."""
    return os.environ.get(_LASTING) or tempfile.gettempdir()


@functools.cache
def _folder() -> str:
    folder = _process.enter_context(scratch_folder())
    # It is removed after what libraries remove, since functions that are registered later run first. That of
    # multiprocessing may be registered by now; it removes its folder in this one at the priority -100.
    if util := sys.modules.get("multiprocessing.util"):
        util.Finalize(None, remove_temporary_files, exitpriority=-101)
    else:
        atexit.register(remove_temporary_files)
    return folder


def _download(folder: str, target: str) -> None:
    gfile = gfile_of(folder)
    os.makedirs(target)
    for name in files_below(folder):
        place = os.path.join(target, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        gfile.copy(os.path.join(folder, name), place)


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
    """Returns the path of a new file or folder, and a locked descriptor; its lock ends with the process."""
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
            # Another process removed it, is writing it or owns it, or there are no locks.
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
