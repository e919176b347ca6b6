"""The files that match the path patterns of a source."""

import dataclasses
import functools
import itertools
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from apache_beam.io.filesystem import FileSystem
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from firth.corpus.documents.errors import SourceError
from firth.recipes.base.file_names import split_pattern, suggest_path, written_out

_ANY_FOLDERS = "/**/"


class LocalMatch(NamedTuple):
    """An entry of a folder that a pattern matches, or a folder on the way to such entries.

    Attributes:
        path: Its path.
        size: Its size in bytes; 0 if it is not a file.
        modified: Time of its last change in seconds since 1970; 0 if it is not a file.
        problem: Reason why it is not read: `unreadable_folder`, `broken_link`, `folder`, `not_a_file` or
            `unreadable`; empty for a file.
    """

    path: str
    size: int = 0
    modified: float = 0.0
    problem: str = ""


def local_matches(pattern: str) -> Iterator[LocalMatch]:
    """Yields the files that a pattern matches, and its other matches with the reason why they are not read.

    The pattern is Beam's: `*` matches any part of a name, `**` any part of a path. Links are followed.
    A folder that matches is yielded unless only the wildcards of `**` and the name `*` match it.
    """
    folder, parts = split_pattern(f"{pattern}*" if pattern.endswith("/") else pattern)
    yield from _below(folder or ("/" if pattern.startswith("/") else ""), parts)


def _below(folder: str, parts: list[str]) -> Iterator[LocalMatch]:
    if "**" in parts[0]:
        tree = _Tree(folder, _regex("/".join(parts)), "**" not in parts[-1] and parts[-1] != "*")
        yield from tree.matches(folder, frozenset())
        return
    names = _names_like(folder, parts[0])
    if names is None:
        yield LocalMatch(folder, problem="unreadable_folder")
        return
    for name in names:
        path = os.path.join(folder, name)
        if len(parts) == 1:
            yield _match_of(path)
        elif os.path.isdir(path):
            yield from _below(path, parts[1:])
        elif os.path.islink(path) and not os.path.exists(path):
            yield LocalMatch(path, problem="broken_link")


class _Tree(NamedTuple):
    """A folder with all below it, and the pattern of paths in it.

    Attributes:
        root: Path of the folder.
        pattern: Pattern of paths relative to it.
        names_folders: True if a folder that matches is meant to be a file.
    """

    root: str
    pattern: re.Pattern[str]
    names_folders: bool

    def matches(self, folder: str, above: frozenset[tuple[int, int]]) -> Iterator[LocalMatch]:
        names = _names(folder)
        if names is None:
            yield LocalMatch(folder, problem="unreadable_folder")
            return
        here = above | (_identity(folder) if names else frozenset())
        for name in names:
            path = os.path.join(folder, name)
            is_match = self.pattern.match(os.path.relpath(path, self.root or "."))
            if not os.path.isdir(path):
                if is_match:
                    yield _match_of(path)
                continue
            if is_match and self.names_folders:
                yield _match_of(path)
            # A link to a folder above would never end.
            if not here & _identity(path):
                yield from self.matches(path, here)


def _identity(folder: str) -> frozenset[tuple[int, int]]:
    status = os.stat(folder or ".")
    return frozenset({(status.st_dev, status.st_ino)})


def _names_like(folder: str, part: str) -> list[str] | None:
    if (name := written_out(part)) is not None:
        if os.path.lexists(os.path.join(folder, name)):
            return [name]
        return None if _names(folder) is None else []
    names = _names(folder)
    return None if names is None else list(filter(_regex(part).match, names))


def _names(folder: str) -> list[str] | None:
    """Returns the names in a folder: empty if it does not exist, None if it cannot be read."""
    try:
        # Names alone can be listed without the right to read what they name.
        os.stat(os.path.join(folder, "."))
        return sorted(os.listdir(folder or "."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None


def _match_of(path: str) -> LocalMatch:
    try:
        status = os.stat(path)
    except OSError:
        return LocalMatch(path, problem="broken_link" if os.path.islink(path) else "unreadable")
    if stat.S_ISDIR(status.st_mode):
        return LocalMatch(path, problem="folder")
    if not stat.S_ISREG(status.st_mode):
        return LocalMatch(path, problem="not_a_file")
    return LocalMatch(path, status.st_size, status.st_mtime)


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(FileSystem.translate_pattern(pattern))


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
        kept_as: Name of the cached documents of the file; empty if they are not cached.
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
    """Returns the matches of a pattern by path."""
    patterns = _with_and_without_folders(pattern)
    if "://" not in pattern:
        found = [each for one in patterns for each in local_matches(one)]
        return {each.path: each for each in found}
    prepare_file_systems()
    try:
        matched = FileSystems.match(patterns)
    except ValueError as error:
        # Beam's own message names a package that has nothing to do with it.
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
    """Returns patterns by which `a/**/b` matches `a/b` too, as in a shell; Beam wants a folder between."""
    first, *others = pattern.split(_ANY_FOLDERS)
    chosen = itertools.product((_ANY_FOLDERS, "/"), repeat=len(others))
    return ["".join([first, *itertools.chain(*zip(between, others))]) for between in chosen]


@functools.cache
def prepare_file_systems() -> None:
    """Lets Beam list and open what is in buckets before this process has made a pipeline.

    Beam's client of S3 works with the options of a pipeline alone. So a source could not be listed there, and
    no component could begin in a container of its own. A pipeline that is made later sets its options.
    """
    FileSystems.set_options(PipelineOptions([]))
