"""Keeps files that explain the failure of a component, since TFX removes its outputs."""

import contextlib
import os
from collections.abc import Iterator

from firth import storage

FOLDER = "failed"


def keep_files(folder: str, *names: str) -> str:
    """Copies files of an output, which TFX removes when its component fails, and returns their new folder.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     storage.write_json(f"{root}/Curator/report/7/a.json", {})
    ...     kept = keep_files(f"{root}/Curator/report/7", "a.json", "b.json")
    ...     kept.removeprefix(root), storage.list_folder(kept)
    ('/Curator/failed/report/7', ['a.json'])
    """
    output, number = os.path.split(folder.rstrip("/"))
    component, name = os.path.split(output)
    kept = os.path.join(component, FOLDER, name, number)
    for file in names:
        if storage.exists(os.path.join(folder, file)):
            storage.copy_file(os.path.join(folder, file), os.path.join(kept, file))
    return kept


@contextlib.contextmanager
def keeping(folder: str, *names: str, errors: type[Exception]) -> Iterator[None]:
    """Keeps files of an output if the block fails, and adds to the error where they are."""
    try:
        yield
    except Exception as error:
        kept = keep_files(folder, *names)
        found = [path for name in names if storage.exists(path := os.path.join(kept, name))]
        if not found or not isinstance(error, errors):
            raise
        message = str(error).split(" [while running")[0]
        raise type(error)(f"{message}. Kept: {', '.join(found)}") from error
