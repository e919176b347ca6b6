"""The files that match the path patterns of a source."""

import dataclasses
import itertools
import os

from apache_beam.io.filesystems import FileSystems

from firth.corpus.documents.errors import SourceError
from firth.corpus.io.file_systems import prepare_file_systems
from firth.recipes.base.paths import suggest_path

_ANY_FOLDERS = "/**/"


@dataclasses.dataclass(frozen=True, order=True)
class SourceFile:
    """A file of a source.

    Attributes:
        path: Path of the file on any of Beam's file systems.
        name: Name of the file in the ids and addresses of its documents, such as `package/module`; empty if
            it is the path.
        size: Size of the file in bytes.
        modified: Time of the last change in seconds since 1970, according to the file system.
    """

    path: str
    name: str = ""
    size: int = 0
    modified: float = 0.0


def match_files(source_name: str, patterns: tuple[str, ...]) -> list[SourceFile]:
    """Returns the files that match any of the patterns, each once, sorted by path.

    Args:
        source_name: Name of the source in the recipe, for error messages.
        patterns: Path patterns as the recipe states them; `~` is the home folder.

    Raises:
        SourceError: if a pattern matches no file, is a folder, or is on a file system that Beam does not
            read.
    """
    files = {}
    for pattern in patterns:
        matched = _match(source_name, os.path.expanduser(pattern))
        files.update({file.path: file for file in matched})
    return sorted(files.values())


def _match(source_name: str, pattern: str) -> list[SourceFile]:
    if os.path.isdir(pattern):
        inside = os.path.join(pattern, "*")
        raise SourceError(f"source {source_name!r}: {pattern!r} is a folder; name files, as in {inside!r}")
    prepare_file_systems()
    try:
        matched = FileSystems.match(_with_and_without_folders(pattern))
    except ValueError as error:
        # What Beam itself says names a package that has nothing to do with it.
        raise SourceError(
            f"source {source_name!r}: {pattern!r} is on no file system that Beam reads here; fetch the files "
            "first, or install what its file system needs"
        ) from error
    found = {each.path: each for result in matched for each in result.metadata_list}.values()
    files = [SourceFile(each.path, "", each.size_in_bytes, each.last_updated_in_seconds) for each in found]
    files = [file for file in files if not os.path.isdir(file.path)]
    if not files:
        where = f"(looked from {os.getcwd()!r}){suggest_path(pattern)}"
        raise SourceError(f"source {source_name!r}: no file matches {pattern!r} {where}")
    return files


def _with_and_without_folders(pattern: str) -> list[str]:
    """`a/**/b` stands for `a/b` too, as in a shell; for Beam there is at least one folder between the two."""
    first, *others = pattern.split(_ANY_FOLDERS)
    chosen = itertools.product((_ANY_FOLDERS, "/"), repeat=len(others))
    return ["".join([first, *itertools.chain(*zip(between, others))]) for between in chosen]
