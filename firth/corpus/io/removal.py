"""What an earlier run left, removed."""

from collections.abc import Mapping

from apache_beam.io.filesystems import FileSystems


def remove_leftovers(scratch: str, split_folders: Mapping[str, str]) -> None:
    """Removes what a call that was cut short left: files of other names than will be written now."""
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
    """Removes a folder and what is in it, if it is there."""
    if FileSystems.exists(folder):
        FileSystems.delete([folder])
