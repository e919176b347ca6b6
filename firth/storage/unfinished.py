"""What is written, under another name until it is whole."""

import os
import re
import uuid

from firth.storage.files import list_folder, remove


def unfinished_name(path: str | os.PathLike[str]) -> str:
    """Returns a new path next to another one, whose folder is there afterwards.

    Args:
        path: The place of a file or a folder, on this machine.
    """
    home, name = os.path.split(os.path.abspath(path))
    os.makedirs(home, exist_ok=True)
    return os.path.join(home, f".{name}.{uuid.uuid4().hex}")


def remove_unfinished(path: str) -> None:
    """Removes what processes that were killed have left of a file or a folder.

    Args:
        path: The place of the file or folder, on this machine.
    """
    home, name = os.path.split(path)
    for each in list_folder(home):
        if re.fullmatch(rf"\.{re.escape(name)}\.[0-9a-f]{{32}}", each):
            remove(os.path.join(home, each))
