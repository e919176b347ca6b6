"""The files that match the path patterns of a source."""

import dataclasses
import os

from apache_beam.io.filesystems import FileSystems

from firth.corpus.documents.errors import SourceError
from firth.corpus.io.file_systems import prepare_file_systems
from firth.recipes.base.paths import suggest_path


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
        SourceError: if a pattern matches no file, or is a folder.
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
    found = FileSystems.match([pattern])[0].metadata_list
    files = [SourceFile(each.path, "", each.size_in_bytes, each.last_updated_in_seconds) for each in found]
    files = [file for file in files if not os.path.isdir(file.path)]
    if not files:
        where = f"(looked from {os.getcwd()!r}){suggest_path(pattern)}"
        raise SourceError(f"source {source_name!r}: no file matches {pattern!r} {where}")
    return files
