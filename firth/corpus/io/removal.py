"""Removal of files that an earlier run left."""

from collections.abc import Mapping

from apache_beam.io.filesystems import FileSystems


def remove_leftovers(scratch: str, split_folders: Mapping[str, str]) -> None:
    """Removes the files that an interrupted run left, since the new files will have other names.

    Args:
        scratch: Folder for temporary files, which is removed.
        split_folders: Folder of each split, by the split's name. Their data files and unfinished files are
            removed.
    """
    remove_folder(scratch)
    patterns = [
        pattern
        for folder in split_folders.values()
        for pattern in (f"{folder}/data_tfrecord-*", f"{folder}.*.unfinished")
    ]
    found = [each.path for match in FileSystems.match(patterns) for each in match.metadata_list]
    if found:
        FileSystems.delete(found)


def remove_folder(folder: str) -> None:
    """Removes a folder with all that is in it, if it exists.

    Args:
        folder: Path of the folder on any of Beam's file systems.
    """
    if FileSystems.exists(folder):
        FileSystems.delete([folder])
