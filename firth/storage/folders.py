"""Folders that are written whole or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator

from firth.storage.files import exists, files_below, list_folder, read_json, size_of
from firth.storage.paths import gfile_of, is_local
from firth.storage.temporary import local_copy, scratch_folder, unfinished_folder
from firth.storage.writing import write_json, write_text

BEGUN = "_BEGUN"
"""File in a folder that is being written to a bucket, until the marker is there."""
BUNDLE_FOLDER = "bundle"
"""Folder next to the SavedModel, in the Trainer's model artifact, that `firth.models.load_model` reads."""
ADAPTER_FOLDER = "adapter"
"""Folder next to it of weights that a method added to a model."""


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[str]:
    """Gives a local folder to write in, which takes its place when the block has ended without an error.

    The last file in its place is the marker, without which `check_whole` refuses the folder. What a process
    that was killed has left of the same folder is removed.

    Args:
        path: The folder's place, where there must be nothing but an empty folder, or, in a bucket, what an
            upload that was cut short has left. Only one process at a time may write it.

    Raises:
        FileExistsError: if there is anything else.
        OSError: if the disk is full, or the place cannot be written.

    Example:

    >>> import pathlib, tempfile
    >>> from firth.storage import check_whole
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with whole_folder(f"{root}/model") as folder:
    ...         _ = pathlib.Path(folder, "weights").write_bytes(b"1")
    ...     check_whole(f"{root}/model")
    ...     list_folder(f"{root}/model")
    ['_SUCCESS', 'weights']
    """
    if not is_local(path):
        path = os.fspath(path).rstrip("/")
        _check_free(path, [] if BEGUN in list_folder(path) else list_folder(path))
        with scratch_folder() as folder:
            yield folder
            _upload(folder, path)
        return
    path = os.path.abspath(path)
    _check_free(path, list_folder(path) if os.path.isdir(path) or not os.path.lexists(path) else [path])
    with unfinished_folder(path) as unfinished:
        yield unfinished
        write_marker(unfinished, sizes_of(unfinished))
        move(unfinished, path)


def copy_folder(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copies a folder, whole or not at all.

    Args:
        source: A folder, on any file system.
        target: The copy's place, as `whole_folder` takes it.
    """
    with local_copy(source) as folder, whole_folder(target) as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)


def move(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Gives a local file or folder a new place on the same disk, in one step; a folder is flushed before.

    Args:
        source: A local file or folder.
        target: The new place.

    Raises:
        OSError: if there is something already, but for a file in the way of a file, or an empty folder.
    """
    _flush(os.fspath(source))
    os.replace(source, target)


def _check_free(path: str, found: list[str]) -> None:
    if found:
        raise FileExistsError(f"{path} is there already; what is written needs a place of its own")


def _flush(folder: str) -> None:
    for home, _, names in os.walk(folder):
        for each in (*(os.path.join(home, name) for name in names), home):
            descriptor = os.open(each, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _upload(folder: str, target: str) -> None:
    gfile = gfile_of(target)
    gfile.makedirs(target)
    begun = os.path.join(target, BEGUN)
    # First of all: without it, what a process that is killed leaves would be in the way of the next.
    write_text(begun, "")
    for name in files_below(target):
        if name != BEGUN:
            gfile.remove(os.path.join(target, name))
    sizes = sizes_of(folder)
    for name in sizes:
        place = os.path.join(target, name)
        gfile.makedirs(os.path.dirname(place))
        gfile.copy(os.path.join(folder, name), place)
    write_marker(target, sizes)
    gfile.remove(begun)


MARKER = "_SUCCESS"
"""File that is written last in a whole folder, as Hadoop and Spark name it."""


class NotWholeError(OSError):
    """A folder is missing, or its writer was cut short."""


def is_whole(path: str | os.PathLike[str]) -> bool:
    """Returns true if a folder has its marker.

    Args:
        path: Folder on any file system.
    """
    return exists(_marker(path))


def check_whole(path: str | os.PathLike[str]) -> None:
    """Passes if a folder has its marker.

    Args:
        path: Folder on any file system.

    Raises:
        NotWholeError: if there is no folder, or it lacks the marker.
    """
    if not is_whole(path):
        what = "lacks its marker: what wrote it was cut short" if exists(path) else "does not exist"
        raise NotWholeError(f"{os.fspath(path)} {what}")


def is_unchanged(path: str | os.PathLike[str]) -> bool:
    """Returns true if a folder is whole and its files have the sizes that they were written with.

    Args:
        path: Folder on any file system.
    """
    try:
        sizes = read_json(_marker(path))
    except ValueError:
        return False
    places = {os.path.join(path, name): size for name, size in (sizes or {}).items()}
    return sizes is not None and all(exists(file) and size_of(file) == size for file, size in places.items())


def _marker(folder: str | os.PathLike[str]) -> str:
    return f"{os.fspath(folder).rstrip('/')}/{MARKER}"


def sizes_of(folder: str) -> dict[str, int]:
    """Returns the size of each file below a local folder in bytes, by its path relative to it."""
    names = [name for name in files_below(folder) if name != MARKER]
    return {name: os.path.getsize(os.path.join(folder, name)) for name in names}


def write_marker(folder: str, sizes: dict[str, int]) -> None:
    """Writes the marker of a folder, after all its files.

    Args:
        folder: Folder on any file system.
        sizes: Sizes of its files, as `sizes_of` returns them.
    """
    write_json(_marker(folder), sizes)
