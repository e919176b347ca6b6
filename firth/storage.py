"""Access to the files of artifacts, on this machine or in a bucket.

A path with a scheme (`gs://`, `s3://`, `hdfs://`) goes through TensorFlow's file systems; any other is local
and needs no TensorFlow. Object stores cannot rename, cannot append and know no empty folder, so that a folder
counts as whole when its marker is there, which is written last.
"""

import contextlib
import glob as local_glob
import os
import pathlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from typing import IO, Any

# As Hadoop and Spark name it.
MARKER = "_SUCCESS"
# In a bucket, until the marker is there.
BEGUN = "_BEGUN"
# Where the Trainer's model artifact holds what `firth.models.load_model` reads, next to the SavedModel.
BUNDLE_FOLDER = "bundle"


class NotWholeError(OSError):
    """A folder is missing, or what wrote it was cut short."""


def is_local(path: str | os.PathLike) -> bool:
    """Returns whether a path is on this machine's file systems.

    Raises:
        ValueError: for a path with a scheme that `pathlib` has taken a slash from.

    Example:

    >>> is_local("runs/a"), is_local("gs://bucket/runs/a")
    (True, False)
    """
    path = os.fspath(path)
    if re.match(r"[a-z][a-z0-9+.-]+:/(?!/)", path):
        raise ValueError(f"{path}: pathlib keeps no scheme; give a path with a scheme as a string")
    return "://" not in path


def open_file(path: str | os.PathLike, mode: str = "rb") -> IO[Any]:
    """Opens a file to read it. Text is UTF-8.

    Args:
        path: A local path, or one with a scheme.
        mode: `rb` or `r`. Files are written by `whole_file`.

    Raises:
        ValueError: for another mode.
        OSError: if a local file cannot be opened.
        tensorflow.errors.OpError: if another cannot be read; some file systems say so at the first read.
    """
    if mode not in ("rb", "r"):
        raise ValueError(f"mode is 'rb' or 'r', got {mode!r}; `whole_file` writes")
    if is_local(path):
        return open(path, mode, encoding=None if "b" in mode else "utf-8")
    return _gfile().GFile(os.fspath(path), mode)


def exists(path: str | os.PathLike) -> bool:
    """Returns whether there is a file or a folder."""
    return os.path.exists(path) if is_local(path) else _gfile().exists(os.fspath(path))


def list_folder(path: str | os.PathLike) -> list[str]:
    """Returns the sorted names in a folder; none if there is no such folder."""
    if is_local(path):
        return sorted(os.listdir(path)) if os.path.isdir(path) else []
    gfile = _gfile()
    if not gfile.isdir(os.fspath(path)):
        return []
    return sorted(name.rstrip("/") for name in gfile.listdir(os.fspath(path)))


def glob(pattern: str) -> list[str]:
    """Returns the sorted paths that a pattern with `*`, `?` and `[...]` stands for.

    Args:
        pattern: As `glob.glob` takes it; `**` only in local ones.
    """
    return sorted(local_glob.glob(pattern, recursive=True) if is_local(pattern) else _gfile().glob(pattern))


def remove(path: str | os.PathLike) -> None:
    """Removes a file, or a folder with all it holds; nothing happens if there is none."""
    if not is_local(path):
        _remove_remote(os.fspath(path))
    elif os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        pathlib.Path(path).unlink(missing_ok=True)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike, mode: str = "wb") -> Iterator[IO[Any]]:
    """Gives a file to write in, which takes its place when the block has ended without an error.

    Args:
        path: The file's place; one that is there is replaced. Its folder is made if need be.
        mode: `wb` or `w`. Text is UTF-8.

    Raises:
        OSError: if the disk is full, or the place cannot be written.

    Example:

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt", "w") as file:
    ...         _ = file.write("abc")
    ...     list_folder(folder), open_file(f"{folder}/a.txt", "r").read()
    (['a.txt'], 'abc')
    """
    if not is_local(path):
        with tempfile.TemporaryDirectory() as folder:
            with whole_file(os.path.join(folder, "file"), mode) as file:
                yield file
            _gfile().copy(os.path.join(folder, "file"), os.fspath(path), overwrite=True)
        return
    unfinished = _unfinished(path)
    try:
        with open(unfinished, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        pathlib.Path(unfinished).unlink(missing_ok=True)


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike) -> Iterator[str]:
    """Gives a local folder to write in, which takes its place when the block has ended without an error.

    The last file in its place is the marker, without which `check_whole` refuses the folder.

    Args:
        path: The folder's place, where there must be nothing but an empty folder, or, in a bucket, what an
            upload that was cut short has left.

    Raises:
        FileExistsError: if there is anything else.
        OSError: if the disk is full, or the place cannot be written.

    Example:

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
        with tempfile.TemporaryDirectory() as folder:
            yield folder
            _upload(folder, path)
        return
    path = os.path.abspath(path)
    _check_free(path, list_folder(path) if os.path.isdir(path) or not os.path.lexists(path) else [path])
    unfinished = _unfinished(path)
    os.mkdir(unfinished)
    try:
        yield unfinished
        pathlib.Path(unfinished, MARKER).touch()
        _flush(unfinished)
        os.replace(unfinished, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def is_whole(path: str | os.PathLike) -> bool:
    """Returns whether a folder has its marker."""
    return exists(f"{os.fspath(path).rstrip('/')}/{MARKER}")


def check_whole(path: str | os.PathLike) -> None:
    """Passes if a folder has its marker.

    Raises:
        NotWholeError: if there is no folder, or it lacks the marker.
    """
    if not is_whole(path):
        what = "lacks its marker: what wrote it was cut short" if exists(path) else "does not exist"
        raise NotWholeError(f"{os.fspath(path)} {what}")


@contextlib.contextmanager
def local_copy(path: str | os.PathLike) -> Iterator[str]:
    """Gives a local path of a file or a folder, for a memory map or a reader in C++.

    A local path is given as it is. Another is copied, and the copy is removed when the block ends.
    """
    if is_local(path):
        yield os.fspath(path)
        return
    source = os.fspath(path).rstrip("/")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, os.path.basename(source))
        if _gfile().isdir(source):
            _download(source, target)
        else:
            _gfile().copy(source, target)
        yield target


def _gfile():
    import tensorflow as tf

    return tf.io.gfile


def _unfinished(path: str | os.PathLike) -> str:
    """Returns a new path next to another one, whose folder is there afterwards."""
    home, name = os.path.split(os.path.abspath(path))
    os.makedirs(home, exist_ok=True)
    return os.path.join(home, f".{name}.{uuid.uuid4().hex}")


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


def _remove_remote(path: str) -> None:
    gfile = _gfile()
    if gfile.isdir(path):
        gfile.rmtree(path)
    elif gfile.exists(path):
        gfile.remove(path)


def _upload(folder: str, target: str) -> None:
    gfile = _gfile()
    _remove_remote(target)
    gfile.makedirs(target)
    with gfile.GFile(os.path.join(target, BEGUN), "w") as file:
        file.write("")
    for home, _, names in os.walk(folder):
        place = os.path.join(target, os.path.relpath(home, folder)) if home != folder else target
        gfile.makedirs(place)
        for name in names:
            gfile.copy(os.path.join(home, name), os.path.join(place, name))
    with gfile.GFile(os.path.join(target, MARKER), "w") as file:
        file.write("")
    gfile.remove(os.path.join(target, BEGUN))


def _download(folder: str, target: str) -> None:
    gfile = _gfile()
    for home, _, names in gfile.walk(folder):
        place = os.path.join(target, os.path.relpath(home, folder)) if home != folder else target
        os.makedirs(place, exist_ok=True)
        for name in names:
            gfile.copy(os.path.join(home, name), os.path.join(place, name))
