"""Reads, lists and removes files and folders."""

import datetime
import glob as local_glob
import hashlib
import json
import os
import pathlib
import shutil
import stat
from typing import IO, Any

from firth.storage.paths import gfile_of, is_local


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
    return gfile_of(path).GFile(os.fspath(path), mode)


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


def seconds_of(value: Any) -> float | None:
    """Returns the seconds since 1970 of a time in ISO 8601; None for any other value of JSON.

    Args:
        value: The value.

    Example:

    >>> seconds_of("1970-01-01T00:01:00+00:00"), seconds_of(3)
    (60.0, None)
    """
    try:
        return datetime.datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def read_json_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the object in a file of JSON; an empty one if the file does not exist or holds anything else.

    It is for files that describe a run and that the next run writes again, so that a broken one is as good
    as a missing one.

    Args:
        path: A local path, or one with a scheme.
    """
    try:
        value = read_json(path)
    except (ValueError, RecursionError):
        # Bytes that are not UTF-8 are a ValueError too.
        return {}
    return value if isinstance(value, dict) else {}


def read_json_lines(path: str | os.PathLike[str]) -> list[Any]:
    """Returns the values in a file of JSON lines that may still grow; none if there is no such file.

    Args:
        path: A local path, or one with a scheme.
    """
    # A kill may leave a last line without its end.
    return [json.loads(line) for line in read_text(path).split("\n")[:-1]] if exists(path) else []


def digest_of(path: str | os.PathLike[str]) -> bytes:
    """Returns the SHA-256 of a file's content.

    Args:
        path: A local path, or one with a scheme.
    """
    content = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(2**20):
            content.update(block)
    return content.digest()


def exists(path: str | os.PathLike[str]) -> bool:
    """Returns true if there is a file or a folder.

    Args:
        path: Path on this machine, or one with a scheme.
    """
    return os.path.exists(path) if is_local(path) else gfile_of(path).exists(os.fspath(path))


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Returns true if there is a folder; in a bucket, if names of files begin with it and a slash.

    Args:
        path: Path on this machine, or one with a scheme.
    """
    return os.path.isdir(path) if is_local(path) else gfile_of(path).isdir(os.fspath(path))


def why_no_file(path: str | os.PathLike[str]) -> str:
    """Returns why a path is not a file that can be read to its end, in words; empty if it is one.

    A link counts as its target. A path with a scheme is that of a file, or of a folder.

    Args:
        path: Path on this machine, or one with a scheme.
    """
    if not is_local(path):
        return "it is a folder" if is_folder(path) else ""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return str(error.strerror)
    if stat.S_ISREG(mode):
        return ""
    kinds = {"a folder": stat.S_ISDIR, "a pipe": stat.S_ISFIFO, "a socket": stat.S_ISSOCK}
    return f"it is {next((name for name, is_of in kinds.items() if is_of(mode)), 'a device')}"


def size_of(path: str | os.PathLike[str]) -> int:
    """Returns the size of a file in bytes.

    Args:
        path: File on any file system.
    """
    return os.path.getsize(path) if is_local(path) else gfile_of(path).stat(os.fspath(path)).length


def stamp_of(path: str | os.PathLike[str]) -> tuple[int, int]:
    """Returns the size of a file in bytes, and the time of its last change in nanoseconds.

    Args:
        path: File on any file system.
    """
    if is_local(path):
        here = os.stat(path)
        return here.st_size, here.st_mtime_ns
    there = gfile_of(path).stat(os.fspath(path))
    return there.length, there.mtime_nsec


def list_folder(path: str | os.PathLike[str]) -> list[str]:
    """Returns the sorted names in a folder; none if there is no such folder.

    Args:
        path: Folder on any file system.
    """
    if not is_folder(path):
        return []
    names = os.listdir(path) if is_local(path) else gfile_of(path).listdir(os.fspath(path))
    # Some stores list the folder itself as a file without a name.
    return sorted(name for each in names if (name := each.rstrip("/")))


def files_below(folder: str | os.PathLike[str]) -> list[str]:
    """Returns the sorted paths of all files in a folder and its folders, relative to it.

    Args:
        folder: Folder on any file system.
    """
    walk = os.walk if is_local(folder) else gfile_of(folder).walk
    found = [os.path.join(home, name) for home, _, names in walk(os.fspath(folder)) for name in names if name]
    return sorted(os.path.relpath(path, folder) for path in found)


def glob(*patterns: str) -> list[str]:
    """Returns the sorted paths that patterns with `*`, `?` and `[...]` match, each once.

    Args:
        *patterns: Patterns as `glob.glob` takes them.
    """
    found = (local_glob.glob(each) if is_local(each) else gfile_of(each).glob(each) for each in patterns)
    return sorted({path for paths in found for path in paths})


def remove(path: str | os.PathLike[str]) -> None:
    """Removes a file, or a folder with all it holds; nothing happens where neither exists.

    Args:
        path: File or folder on any file system.
    """
    if not is_local(path):
        _remove_remote(os.fspath(path))
    elif os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        pathlib.Path(path).unlink(missing_ok=True)


def _remove_remote(path: str) -> None:
    gfile = gfile_of(path)
    if gfile.isdir(path):
        gfile.rmtree(path)
    elif gfile.exists(path):
        gfile.remove(path)
