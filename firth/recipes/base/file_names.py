"""The files that a recipe names, and the resolution of relative names."""

import dataclasses
import difflib
import glob
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any

from firth.recipes.base.recipe_type import Config
from firth.recipes.base.yaml_text import Path


@dataclasses.dataclass(frozen=True)
class NamesFiles:
    """Marks a field whose texts are paths, or patterns of paths, on any file system that Beam reads.

    Attributes:
        is_folder: True if each path is that of a folder.
        is_pattern: True if each path may hold wildcards.
    """

    is_folder: bool = False
    is_pattern: bool = False


PATTERN = NamesFiles(is_pattern=True)
_ESCAPED = re.compile(r"\[([*?[])\]")
_MAGIC = re.compile(r"[*?[]")
# Placeholders of the numbers of spans and versions, as TFX writes them.
_SPAN = re.compile(r"\{(SPAN|VERSION|YYYY|MM|DD)(:\d+)?\}")


@dataclasses.dataclass(frozen=True)
class NamedFile:
    """A file, a folder or a pattern that a recipe names.

    Attributes:
        key: Path of keys that leads to it.
        pattern: Path as the recipe gives it.
        mark: Kind of the path.
    """

    key: Path
    pattern: str
    mark: NamesFiles = NamesFiles()


def named_files(part: Any, key: Path = ()) -> Iterator[NamedFile]:
    """Yields the files that a part of a recipe names.

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
    """Returns the full path of a pattern, from the folder of the recipe file that names it.

    A relative pattern that matches no file from the recipe's folder, but does from the working directory, is
    looked up from the latter. Remote and absolute patterns stay as they are, except for `~`.

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
    """Returns the files on this machine that a path or a pattern matches."""
    return [path for path in _paths_of(pattern, mark) if os.path.isfile(path)]


def with_wildcards(pattern: str) -> str:
    """Returns a pattern that matches every span and version.

    Example:

    >>> with_wildcards("crawl/{SPAN}/v{VERSION}/*.txt")
    'crawl/*/v*/*.txt'
    """
    return _SPAN.sub("*", pattern)


def written_out(part: str) -> str | None:
    """Returns the name that a part of a pattern is; None if it has wildcards.

    Example:

    >>> written_out("data[[]1]"), written_out("*.txt")
    ('data[1]', None)
    """
    return None if _MAGIC.search(_ESCAPED.sub("", part)) else _ESCAPED.sub(r"\1", part)


def split_pattern(pattern: str) -> tuple[str, list[str]]:
    """Returns the folder that a pattern writes out, and the parts of the pattern below it, at least one.

    Example:

    >>> split_pattern("/data/books/*/a.txt"), split_pattern("/data[[]1]/a.txt")
    (('/data/books', ['*', 'a.txt']), ('/data[1]', ['a.txt']))
    """
    parts = pattern.split("/")
    fixed = 0
    while fixed < len(parts) - 1 and written_out(parts[fixed]) is not None:
        fixed += 1
    return _ESCAPED.sub(r"\1", "/".join(parts[:fixed])), parts[fixed:]


def below_folder(pattern: str) -> str:
    """Returns a pattern without the folder that it writes out, which differs between machines.

    Example:

    >>> below_folder("/home/jane/books/*.txt"), below_folder("gs://bucket/a.jsonl")
    ('*.txt', 'a.jsonl')
    """
    return "/".join(split_pattern(pattern.rstrip("/"))[1])


def without_folders(part: Config) -> dict[str, Any]:
    """Returns a part of a recipe as data, in which all paths are without their folders."""
    data = part.model_dump(mode="json")
    for file in named_files(part):
        *keys, last = file.key
        place: Any = data
        for key in keys:
            place = place[int(key)] if isinstance(place, list) else place[key]
        place[int(last) if isinstance(place, list) else last] = below_folder(file.pattern)
    return data


def is_remote(pattern: str) -> bool:
    """Returns whether a pattern is on a file system that only Beam reads."""
    return "://" in pattern


def _joined(folder: str | os.PathLike[str], pattern: str, mark: NamesFiles) -> str:
    folder = os.fspath(folder)
    return os.path.abspath(os.path.join(glob.escape(folder) if mark.is_pattern else folder, pattern))


def _leads_somewhere(pattern: str, mark: NamesFiles) -> bool:
    return next(_paths_of(pattern, mark), None) is not None


def _paths_of(pattern: str, mark: NamesFiles) -> Iterator[str]:
    return glob.iglob(with_wildcards(pattern) if mark.is_pattern else glob.escape(pattern), recursive=True)


def suggest_path(pattern: str) -> str:
    """Returns which path may be meant, as the end of a message; an empty text if no path is near.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     os.mkdir(f"{folder}/books")
    ...     suggest_path(f"{folder}/boks/*.txt").replace(folder, "/data"), suggest_path(f"{folder}/x")
    ('; did you mean /data/books/*.txt?', '')
    """
    if "://" in pattern:
        return ""
    path = pathlib.Path(_ESCAPED.sub(r"\1", pattern))
    for place in (*reversed(path.parents), path):
        if os.path.exists(place):
            continue
        if glob.has_magic(place.name):
            break
        try:
            names = sorted(os.listdir(place.parent))
        except OSError:
            break
        near = difflib.get_close_matches(place.name, names, n=1)
        if near:
            return f"; did you mean {place.parent / near[0] / path.relative_to(place)}?"
        break
    return ""
