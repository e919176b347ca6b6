"""Local paths of what may be in a bucket, for memory maps, readers in C++ and caches."""

import atexit
import contextlib
import functools
import os
from collections.abc import Iterator

from firth.storage.files import files_below, is_folder
from firth.storage.paths import gfile_of, is_local
from firth.storage.unfinished import scratch_folder


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


def _download(folder: str, target: str) -> None:
    gfile = gfile_of(folder)
    os.makedirs(target)
    for name in files_below(folder):
        place = os.path.join(target, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        gfile.copy(os.path.join(folder, name), place)
