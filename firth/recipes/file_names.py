"""The files that a recipe names, and where relative names lead."""

import dataclasses
import glob
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from firth.recipes.base import Config
from firth.recipes.yaml_text import Path


@dataclasses.dataclass(frozen=True)
class NamesFiles:
    """Marks a field whose texts are paths, or patterns of paths, on any file system that Beam reads.

    Attributes:
        is_folder: Whether each is the path of a folder.
    """

    is_folder: bool = False


@dataclasses.dataclass(frozen=True)
class NamedFile:
    """A file, a folder or a pattern that a recipe names.

    Attributes:
        key: The path of its key.
        pattern: As the recipe says it.
        is_folder: Whether it is a folder.
    """

    key: Path
    pattern: str
    is_folder: bool = False


def named_files(part: Any, key: Path = ()) -> Iterator[NamedFile]:
    """Yields what a part of a recipe names.

    Example:

    >>> from firth.recipes import WordList
    >>> list(named_files(WordList(path="bad_words.txt")))
    [NamedFile(key=('path',), pattern='bad_words.txt', is_folder=False)]
    """
    if isinstance(part, Config):
        for name, field in type(part).model_fields.items():
            value, here = getattr(part, name), (*key, name)
            marks = [mark for mark in field.metadata if isinstance(mark, NamesFiles)]
            if marks and isinstance(value, str):
                yield NamedFile(here, value, marks[0].is_folder)
            elif marks:
                yield from (NamedFile((*here, str(n)), text) for n, text in enumerate(value))
            else:
                yield from named_files(value, here)
    elif isinstance(part, tuple):
        for index, each in enumerate(part):
            yield from named_files(each, (*key, str(index)))


def absolute(pattern: str, folder: pathlib.Path | None) -> str:
    """Returns where a pattern leads, from the folder of the recipe file that says it.

    A relative pattern that matches nothing from the recipe's folder, but does from the working directory, is
    the latter's. Remote and absolute ones stay as they are, but for `~`.

    Args:
        pattern: A path, in which wildcards may be.
        folder: None for a pattern that no file says, but an option.

    Example:

    >>> absolute("gs://bucket/*.txt", None), absolute("b/*.txt", pathlib.Path("/recipes"))
    ('gs://bucket/*.txt', '/recipes/b/*.txt')
    """
    if is_remote(pattern):
        return pattern
    pattern = os.path.expanduser(pattern)
    here = os.path.abspath(pattern)
    if folder is None or os.path.isabs(pattern):
        return here
    beside = os.path.abspath(folder / pattern)
    return here if matches(here) and not matches(beside) else beside


def is_remote(pattern: str) -> bool:
    """Returns whether a pattern is of a file system that only Beam knows."""
    return "://" in pattern


def matches(pattern: str) -> bool:
    """Returns whether a pattern of this machine's file system leads to any file or folder."""
    return next(glob.iglob(pattern, recursive=True), None) is not None
