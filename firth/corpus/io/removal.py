"""Removal of files that an earlier run left."""

import os
from collections.abc import Mapping

from firth import storage


def remove_leftovers(scratch: str, split_folders: Mapping[str, str]) -> None:
    """Removes the files that an interrupted run left, since the new files will have other names."""
    storage.remove(scratch)
    for folder in split_folders.values():
        unfinished = os.path.join(os.path.dirname(folder.rstrip("/")), ".data_tfrecord-*")
        for path in storage.glob(f"{folder}/data_tfrecord-*", unfinished):
            storage.remove(path)
