"""The files that match the path patterns of a source."""

import dataclasses
import itertools
import os
from collections import Counter
from collections.abc import Sequence

from apache_beam.io.filesystems import FileSystems

from firth.corpus.documents.errors import SourceError
from firth.corpus.io.file_systems import prepare_file_systems
from firth.corpus.io.local_matches import LocalMatch, local_matches
from firth.recipes.base.file_names import split_pattern
from firth.recipes.base.paths import suggest_path

_ANY_FOLDERS = "/**/"


@dataclasses.dataclass(frozen=True, order=True)
class SourceFile:
    """A file of a source.

    Attributes:
        path: Path of the file on any of Beam's file systems.
        name: Name of the file in ids, addresses and reports, which is the same wherever the files are: the
            path below the folder that the pattern fixes, or `package/module`; empty if it is the path.
        size: Size of the file in bytes.
        modified: Time of the last change in seconds since 1970, according to the file system.
        problem: Reason for which the file is rejected without being read, as `LocalMatch` has it; empty for a
            file that is read.
        kept_as: Name under which what is read of it is kept for other runs; empty if it is not.
    """

    path: str
    name: str = ""
    size: int = 0
    modified: float = 0.0
    problem: str = ""
    kept_as: str = ""

    @property
    def place(self) -> str:
        """The name of the file in ids, addresses and reports."""
        return self.name or self.path


def match_files(source_name: str, patterns: Sequence[str]) -> list[SourceFile]:
    """Returns the files that match any of the patterns, each once, sorted by path.

    A file's name is its path below the folder that is written out in the first pattern that matches it. If
    two patterns lead to files of one name, those of the later one have the pattern's number in front:
    `2:a.txt`.

    Raises:
        SourceError: if a pattern matches no file, is a folder, or is on a file system that Beam does not
            read.
    """
    files: dict[str, SourceFile] = {}
    names: set[str] = set()
    for number, pattern in enumerate(patterns, 1):
        for file in sorted(_match(source_name, os.path.expanduser(pattern))):
            if file.path in files:
                continue
            name = file.name
            while name in names:
                name = f"{number}:{name}"
            names.add(name)
            files[file.path] = dataclasses.replace(file, name=name)
    return sorted(files.values())


def _match(source_name: str, pattern: str) -> list[SourceFile]:
    if os.path.isdir(pattern):
        inside = os.path.join(pattern, "*")
        raise SourceError(f"source {source_name!r}: {pattern!r} is a folder; name files, as in {inside!r}")
    found = _matches(source_name, pattern)
    fixed = split_pattern(pattern)[0].rstrip("/") + "/"
    files = [
        SourceFile(each.path, _name_below(fixed, each.path), each.size, each.modified, each.problem)
        for each in found.values()
    ]
    if all(file.problem for file in files):
        problems = Counter(file.problem for file in files)
        first = min((file.path for file in files), default="")
        counts = ", ".join(f"{problem}: {count}" for problem, count in sorted(problems.items()))
        others = f", only what cannot be read ({counts}), as {first!r}" if files else ""
        where = f"(looked from {os.getcwd()!r}){suggest_path(pattern)}"
        raise SourceError(f"source {source_name!r}: no file matches {pattern!r}{others} {where}")
    return files


def _matches(source_name: str, pattern: str) -> dict[str, LocalMatch]:
    """Returns what a pattern matches, by path."""
    patterns = _with_and_without_folders(pattern)
    if "://" not in pattern:
        found = [each for one in patterns for each in local_matches(one)]
        return {each.path: each for each in found}
    prepare_file_systems()
    try:
        matched = FileSystems.match(patterns)
    except ValueError as error:
        # What Beam itself says names a package that has nothing to do with it.
        raise SourceError(
            f"source {source_name!r}: {pattern!r} is on no file system that Beam reads here; fetch the files "
            "first, or install what its file system needs"
        ) from error
    return {
        each.path: LocalMatch(each.path, each.size_in_bytes, each.last_updated_in_seconds)
        for result in matched
        for each in result.metadata_list
    }


def _name_below(fixed: str, path: str) -> str:
    # Some file systems leave out the name of the server.
    name = path.removeprefix(fixed) if path.startswith(fixed) else path.rpartition("://")[2].lstrip("/")
    # A name that is not UTF-8.
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _with_and_without_folders(pattern: str) -> list[str]:
    """`a/**/b` stands for `a/b` too, as in a shell; for Beam there is at least one folder between the two."""
    first, *others = pattern.split(_ANY_FOLDERS)
    chosen = itertools.product((_ANY_FOLDERS, "/"), repeat=len(others))
    return ["".join([first, *itertools.chain(*zip(between, others))]) for between in chosen]
