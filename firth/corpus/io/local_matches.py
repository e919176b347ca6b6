"""Files on this machine that a pattern matches, with the entries that match and cannot be read."""

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from apache_beam.io.filesystem import FileSystem

from firth.recipes.base.file_names import split_pattern, written_out


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
    """Yields the files that a pattern matches, and what else it matches with the reason why it is not read.

    The pattern is Beam's: `*` stands for any part of a name, `**` for any part of a path. Links are followed.
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
