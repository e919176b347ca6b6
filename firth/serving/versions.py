"""The versions of a model in a serving directory."""

import os

from firth import storage

SAVED_MODEL = "saved_model.pb"


class NoModelError(FileNotFoundError):
    """There is no exported model in a folder."""


def newest_model(directory: str) -> str:
    """Returns the path of the SavedModel at `directory`, or of the highest version below it.

    Args:
        directory: Folder of a SavedModel, or a serving directory.

    Raises:
        NoModelError: if there is no model.
    """
    if storage.exists(os.path.join(directory, SAVED_MODEL)):
        return directory
    if not storage.is_folder(directory):
        raise NoModelError(f"there is no folder {directory}: no model was pushed there")
    # Pusher copies saved_model.pb last, so a version without it is still on its way.
    versions = [
        name
        for name in storage.list_folder(directory)
        if name.isdigit() and storage.exists(os.path.join(directory, name, SAVED_MODEL))
    ]
    if not versions:
        raise NoModelError(
            f"{directory} holds no version of a model: none was pushed, or it was not blessed "
            "(see the run's report)"
        )
    return os.path.join(directory, max(versions, key=int))
