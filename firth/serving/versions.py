"""The versions of a model in a serving directory."""

import os

from firth import storage

SAVED_MODEL = "saved_model.pb"
# Servers hold a version in 64 bits with a sign.
_HIGHEST = 2**63 - 1


class NoModelError(FileNotFoundError):
    """There is no exported model in a folder."""


def newest_model(directory: str) -> str:
    """Returns the path of the SavedModel at `directory`, or of the highest version below it."""
    if storage.exists(os.path.join(directory, SAVED_MODEL)):
        return directory
    if not storage.is_folder(directory):
        raise NoModelError(f"there is no folder {directory}: no model was pushed there")
    # Pusher copies saved_model.pb last, so a version without it is still on its way.
    version = newest_version(directory)
    if version is None:
        raise NoModelError(
            f"{directory} holds no version of a model: none was pushed, or it was not blessed "
            "(see the run's report)"
        )
    return os.path.join(directory, version)


def newest_version(directory: str) -> str | None:
    """Returns the name of the highest version with a model below a folder; None without any."""
    versions = filter(is_version, storage.list_folder(directory))
    whole = [name for name in versions if storage.exists(os.path.join(directory, name, SAVED_MODEL))]
    return max(whole, key=int, default=None)


def next_version(directory: str) -> str:
    """Returns the number after the highest version below a folder, whatever the clock; 1 for the first."""
    highest = max(map(int, filter(is_version, storage.list_folder(directory))), default=0)
    if highest >= _HIGHEST:
        raise ValueError(f"{directory}/{highest} is the highest version that a server can read; remove it")
    return str(highest + 1)


def is_version(name: str) -> bool:
    """Returns whether the name of a folder is a version that servers read.

    Example:

    >>> [is_version(name) for name in ("7", "1795000000", ".unfinished", "²", str(2**63))]
    [True, True, False, False, False]
    """
    return name.isascii() and name.isdecimal() and int(name) <= _HIGHEST
