"""Files that are written whole or not at all."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from typing import IO, Any

from firth.storage.files import open_file
from firth.storage.paths import gfile_of, is_local
from firth.storage.temporary import scratch_folder, unfinished_file

_BLOCK_BYTES = 2**20


@contextlib.contextmanager
def whole_file(
    path: str | os.PathLike[str], mode: str = "wb", aside: str | os.PathLike[str] | None = None
) -> Iterator[IO[Any]]:
    """Gives a file to write in, which takes its place when the block has ended without an error.

    What a process that was killed has left of the same file is removed.

    Args:
        path: The file's place; one that is there is replaced. Its folder is made if need be.
        mode: `wb` or `w`. Text is UTF-8.
        aside: A folder on the same disk, for the file while it is written; where readers take every file of
            a folder, it must be another one. The file's own folder if it is not given.

    Raises:
        OSError: if the disk is full, or the place cannot be written.

    Example:

    >>> import tempfile
    >>> from firth.storage import list_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt", "w") as file:
    ...         _ = file.write("abc")
    ...     list_folder(folder), open_file(f"{folder}/a.txt", "r").read()
    (['a.txt'], 'abc')
    """
    if not is_local(path):
        with scratch_folder() as folder:
            with whole_file(os.path.join(folder, "file"), mode) as file:
                yield file
            gfile_of(path).copy(os.path.join(folder, "file"), os.fspath(path), overwrite=True)
        return
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    place = path if aside is None else os.path.join(aside, os.path.basename(path))
    encoding = None if "b" in mode else "utf-8"
    with unfinished_file(place) as unfinished, open(unfinished, mode, encoding=encoding) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        # Before it is closed, which ends the lock on some file systems.
        os.replace(unfinished, path)


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
        indent: Spaces of indentation of each level.
    """
    write_text(path, json.dumps(value, indent=indent))


class GrowingText:
    r"""A text file that is added to: on this machine at once, in a bucket, which appends nothing, at `flush`.

    Args:
        path: The file's place; one that is there is replaced. Its folder is made if need be.
        text: Text that the file begins with.

    Example:

    >>> import tempfile
    >>> from firth.storage import read_text
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
        """Writes the added text, if it is not written yet."""
        if not self._is_local:
            write_text(self._path, self._text)
