"""The marker of a whole folder: written last, it lists the sizes of the files."""

import os

from firth.storage.files import exists, files_below, read_json, size_of
from firth.storage.writing import write_json

# As Hadoop and Spark name it.
MARKER = "_SUCCESS"


class NotWholeError(OSError):
    """A folder is missing, or what wrote it was cut short."""


def is_whole(path: str | os.PathLike[str]) -> bool:
    """Returns whether a folder has its marker.

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
    """Returns whether a folder is whole and its files have the sizes that they were written with.

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
