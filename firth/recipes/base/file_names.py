"""The files that a recipe names, and where relative names lead."""

import dataclasses
import glob
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from firth.recipes.base.recipe_type import Config
from firth.recipes.base.yaml_text import Path


@dataclasses.dataclass(frozen=True)
class NamesFiles:
    """Marks a field whose texts are paths, or patterns of paths, on any file system that Beam reads.

    Attributes:
        is_folder: Whether each is the path of a folder.
        is_pattern: Whether each may hold wildcards.
    """

    is_folder: bool = False
    is_pattern: bool = False


PATTERN = NamesFiles(is_pattern=True)


@dataclasses.dataclass(frozen=True)
class NamedFile:
    """A file, a folder or a pattern that a recipe names.

    Attributes:
        key: The path of its key.
        pattern: As the recipe says it.
        mark: What kind of path it is.
    """

    key: Path
    pattern: str
    mark: NamesFiles = NamesFiles()


def named_files(part: Any, key: Path = ()) -> Iterator[NamedFile]:
    """Yields what a part of a recipe names.

    Example:

    >>> from firth.recipes import WordList
    >>> list(named_files(WordList(path="bad_words.txt")))
    [NamedFile(key=('path',), pattern='bad_words.txt', mark=NamesFiles(is_folder=False, is_pattern=False))]
    """
    if isinstance(part, Config):
        for name, field in type(part).model_fields.items():
            value, here = getattr(part, name), (*key, name)
            marks = [mark for mark in field.metadata if isinstance(mark, NamesFiles)]
            if marks and isinstance(value, str):
                yield NamedFile(here, value, marks[0])
            elif marks:
                yield from (NamedFile((*here, str(n)), text, marks[0]) for n, text in enumerate(value or ()))
            else:
                yield from named_files(value, here)
    elif isinstance(part, tuple):
        for index, each in enumerate(part):
            yield from named_files(each, (*key, str(index)))


def absolute(pattern: str, folder: pathlib.Path | None, mark: NamesFiles = PATTERN) -> str:
    """Returns where a pattern leads, from the folder of the recipe file that says it.

    A relative pattern that matches nothing from the recipe's folder, but does from the working directory, is
    the latter's. Remote and absolute ones stay as they are, but for `~`.

    Args:
        pattern: A path.
        folder: None for a pattern that no file says, but an option.
        mark: Whether wildcards count. If so, the brackets of the folder's own name are escaped.

    Example:

    >>> absolute("gs://bucket/*.txt", None), absolute("b/*.txt", pathlib.Path("/recipes"))
    ('gs://bucket/*.txt', '/recipes/b/*.txt')
    >>> absolute("b/*.txt", pathlib.Path("/recipes[1]"))
    '/recipes[[]1]/b/*.txt'
    """
    if is_remote(pattern):
        return pattern
    pattern = os.path.expanduser(pattern)
    here, there = (_joined(each, pattern, mark) for each in (os.getcwd(), folder or ""))
    if folder is None or os.path.isabs(pattern):
        return here
    return here if _leads_somewhere(here, mark) and not _leads_somewhere(there, mark) else there


def files_of(pattern: str, mark: NamesFiles = PATTERN) -> list[str]:
    """Returns the files of this machine that a path or a pattern stands for."""
    return [path for path in _paths_of(pattern, mark) if os.path.isfile(path)]


def is_remote(pattern: str) -> bool:
    """Returns whether a pattern is of a file system that only Beam knows."""
    return "://" in pattern


def _joined(folder: str | os.PathLike[str], pattern: str, mark: NamesFiles) -> str:
    folder = os.fspath(folder)
    return os.path.abspath(os.path.join(glob.escape(folder) if mark.is_pattern else folder, pattern))


def _leads_somewhere(pattern: str, mark: NamesFiles) -> bool:
    return next(_paths_of(pattern, mark), None) is not None


def _paths_of(pattern: str, mark: NamesFiles) -> Iterator[str]:
    return glob.iglob(pattern if mark.is_pattern else glob.escape(pattern), recursive=True)
