"""Access to the files of artifacts, on this machine or in a bucket.

A path with a scheme (`gs://`, `s3://`, `hdfs://`) goes through TensorFlow's file systems; any other is local
and needs no TensorFlow. `s3://` also needs tensorflow-io. Object stores cannot rename, cannot append and know
no empty folder, so that a folder counts as whole when its marker is there, which is written last and lists
the sizes of the files.
"""

import atexit
import contextlib
import functools
import glob as local_glob
import json
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


_BLOCK_BYTES = 2**20


class NotWholeError(OSError):
    """A folder is missing, or what wrote it was cut short."""


def is_local(path: str | os.PathLike[str]) -> bool:
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


def open_file(path: str | os.PathLike[str], mode: str = "rb") -> IO[Any]:
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
    return _gfile(path).GFile(os.fspath(path), mode)


def read_text(path: str | os.PathLike[str]) -> str:
    """Returns the content of a file of UTF-8, with the line ends that it has.

    Args:
        path: A local path, or one with a scheme.
    """
    with open_file(path) as file:
        return file.read().decode("utf-8")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Returns the value in a file of JSON; None if there is no such file.

    Args:
        path: A local path, or one with a scheme.

    Raises:
        ValueError: if the file is not JSON.
    """
    return json.loads(read_text(path)) if exists(path) else None


def exists(path: str | os.PathLike[str]) -> bool:
    """Returns whether there is a file or a folder."""
    return os.path.exists(path) if is_local(path) else _gfile(path).exists(os.fspath(path))


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Returns whether there is a folder; in a bucket, whether names of files begin with it and a slash."""
    return os.path.isdir(path) if is_local(path) else _gfile(path).isdir(os.fspath(path))


def size_of(path: str | os.PathLike[str]) -> int:
    """Returns the size of a file in bytes."""
    return os.path.getsize(path) if is_local(path) else _gfile(path).stat(os.fspath(path)).length


def list_folder(path: str | os.PathLike[str]) -> list[str]:
    """Returns the sorted names in a folder; none if there is no such folder."""
    if not is_folder(path):
        return []
    names = os.listdir(path) if is_local(path) else _gfile(path).listdir(os.fspath(path))
    # Some stores list the folder itself as a file without a name.
    return sorted(name for each in names if (name := each.rstrip("/")))


def files_below(folder: str | os.PathLike[str]) -> list[str]:
    """Returns the sorted paths of all files in a folder and its folders, relative to it."""
    walk = os.walk if is_local(folder) else _gfile(folder).walk
    found = [os.path.join(home, name) for home, _, names in walk(os.fspath(folder)) for name in names if name]
    return sorted(os.path.relpath(path, folder) for path in found)


def glob(*patterns: str) -> list[str]:
    """Returns the sorted paths that patterns with `*`, `?` and `[...]` stand for, each once.

    Args:
        *patterns: Patterns as `glob.glob` takes them.
    """
    found = (local_glob.glob(each) if is_local(each) else _gfile(each).glob(each) for each in patterns)
    return sorted({path for paths in found for path in paths})


def remove(path: str | os.PathLike[str]) -> None:
    """Removes a file, or a folder with all it holds; nothing happens if there is none."""
    if not is_local(path):
        _remove_remote(os.fspath(path))
    elif os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        pathlib.Path(path).unlink(missing_ok=True)


@contextlib.contextmanager
def whole_file(
    path: str | os.PathLike[str], mode: str = "wb", aside: str | os.PathLike[str] | None = None
) -> Iterator[IO[Any]]:
    """Gives a file to write in, which takes its place when the block has ended without an error.

    Args:
        path: The file's place; one that is there is replaced. Its folder is made if need be.
        mode: `wb` or `w`. Text is UTF-8.
        aside: A folder on the same disk, for the file while it is written; where readers take every file of
            a folder, it must be another one. The file's own folder if it is not given.

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
            _gfile(path).copy(os.path.join(folder, "file"), os.fspath(path), overwrite=True)
        return
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    unfinished = _unfinished(path if aside is None else os.path.join(aside, os.path.basename(path)))
    try:
        with open(unfinished, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        pathlib.Path(unfinished).unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file of UTF-8, whole or not at all; one that is there is replaced.

    Args:
        path: The file's place. Its folder is made if need be.
        text: The content, whose line ends stay as they are.
    """
    with whole_file(path) as file:
        file.write(text.encode("utf-8"))


def copy_file(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copies a file, whole or not at all; one that is there is replaced.

    Args:
        source: A file, on any file system.
        target: The copy's place. Its folder is made if need be.
    """
    with open_file(source) as file, whole_file(target) as copy:
        shutil.copyfileobj(file, copy, _BLOCK_BYTES)


def write_json(path: str | os.PathLike[str], value: Any, indent: int = 2) -> None:
    """Writes a value as JSON, whole or not at all; a file that is there is replaced.

    Args:
        path: The file's place. Its folder is made if need be.
        value: Any value that `json.dumps` takes.
        indent: Spaces by which each level stands to the right of the one above.
    """
    write_text(path, json.dumps(value, indent=indent))


class GrowingText:
    r"""A text file that is added to: on this machine at once, in a bucket, which appends nothing, at `flush`.

    Args:
        path: The file's place; one that is there is replaced. Its folder is made if need be.
        text: Text that the file begins with.

    Example:

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = GrowingText(f"{folder}/lines", "one\n")
    ...     lines.append("two\n")
    ...     read_text(f"{folder}/lines")
    'one\ntwo\n'
    """

    def __init__(self, path: str | os.PathLike[str], text: str = "") -> None:
        self._path, self._text = path, text
        self._is_local = is_local(path)
        write_text(path, text)

    def append(self, text: str) -> None:
        """Adds a text.

        Args:
            text: Text that comes next.
        """
        if self._is_local:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(text)
        else:
            self._text += text

    def flush(self) -> None:
        """Writes what was added, where that is still to be done."""
        if not self._is_local:
            write_text(self._path, self._text)


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
    _remove_unfinished(path)
    unfinished = _unfinished(path)
    os.mkdir(unfinished)
    try:
        yield unfinished
        _write_marker(unfinished, _sizes(unfinished))
        move(unfinished, path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


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


def is_whole(path: str | os.PathLike[str]) -> bool:
    """Returns whether a folder has its marker."""
    return exists(_marker(path))


def check_whole(path: str | os.PathLike[str]) -> None:
    """Passes if a folder has its marker.

    Raises:
        NotWholeError: if there is no folder, or it lacks the marker.
    """
    if not is_whole(path):
        what = "lacks its marker: what wrote it was cut short" if exists(path) else "does not exist"
        raise NotWholeError(f"{os.fspath(path)} {what}")


def is_unchanged(path: str | os.PathLike[str]) -> bool:
    """Returns whether a folder is whole and its files have the sizes that they were written with."""
    try:
        sizes = read_json(_marker(path))
    except ValueError:
        return False
    places = {os.path.join(path, name): size for name, size in (sizes or {}).items()}
    return sizes is not None and all(exists(file) and size_of(file) == size for file, size in places.items())


def _marker(folder: str | os.PathLike[str]) -> str:
    return f"{os.fspath(folder).rstrip('/')}/{MARKER}"


@contextlib.contextmanager
def local_copy(path: str | os.PathLike[str]) -> Iterator[str]:
    """Gives a local path of a file or a folder, for a memory map or a reader in C++.

    A local path is given as it is. Another is copied, and the copy is removed when the block ends.
    """
    if is_local(path):
        yield os.fspath(path)
        return
    source = os.fspath(path).rstrip("/")
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, os.path.basename(source))
        if is_folder(source):
            _download(source, target)
        else:
            _gfile(source).copy(source, target)
        yield target


@functools.cache
def local_folder(path: str | os.PathLike[str]) -> str:
    """Returns a folder on this machine for what is kept at a path, and is no loss where it is made anew.

    Args:
        path: A folder, on any file system.

    Returns:
        A local path as it is; for another, a folder that lasts as long as the process.
    """
    if is_local(path):
        return os.fspath(path)
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def _gfile(path: str | os.PathLike[str]) -> Any:
    import tensorflow as tf

    if os.fspath(path).startswith("s3://"):
        # Importing it registers the scheme.
        try:
            import tensorflow_io  # noqa: F401
        except ImportError as error:
            raise ImportError(f"{path}: s3:// needs tensorflow-io: pip install 'firth[s3]'") from error
    return tf.io.gfile


def _unfinished(path: str | os.PathLike[str]) -> str:
    """Returns a new path next to another one, whose folder is there afterwards."""
    home, name = os.path.split(os.path.abspath(path))
    os.makedirs(home, exist_ok=True)
    return os.path.join(home, f".{name}.{uuid.uuid4().hex}")


def _remove_unfinished(path: str) -> None:
    home, name = os.path.split(path)
    for each in list_folder(home):
        if re.fullmatch(rf"\.{re.escape(name)}\.[0-9a-f]{{32}}", each):
            remove(os.path.join(home, each))


def _check_free(path: str, found: list[str]) -> None:
    if found:
        raise FileExistsError(f"{path} is there already; what is written needs a place of its own")


def _sizes(folder: str) -> dict[str, int]:
    names = [name for name in files_below(folder) if name != MARKER]
    return {name: os.path.getsize(os.path.join(folder, name)) for name in names}


def _write_marker(folder: str, sizes: dict[str, int]) -> None:
    write_json(_marker(folder), sizes)


def _flush(folder: str) -> None:
    for home, _, names in os.walk(folder):
        for each in (*(os.path.join(home, name) for name in names), home):
            descriptor = os.open(each, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _remove_remote(path: str) -> None:
    gfile = _gfile(path)
    if gfile.isdir(path):
        gfile.rmtree(path)
    elif gfile.exists(path):
        gfile.remove(path)


def _upload(folder: str, target: str) -> None:
    gfile = _gfile(target)
    gfile.makedirs(target)
    begun = os.path.join(target, BEGUN)
    # First of all: without it, what a process that is killed leaves would be in the way of the next.
    write_text(begun, "")
    for name in files_below(target):
        if name != BEGUN:
            gfile.remove(os.path.join(target, name))
    sizes = _sizes(folder)
    for name in sizes:
        place = os.path.join(target, name)
        gfile.makedirs(os.path.dirname(place))
        gfile.copy(os.path.join(folder, name), place)
    _write_marker(target, sizes)
    gfile.remove(begun)


def _download(folder: str, target: str) -> None:
    gfile = _gfile(folder)
    os.makedirs(target)
    for name in files_below(folder):
        place = os.path.join(target, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        gfile.copy(os.path.join(folder, name), place)
