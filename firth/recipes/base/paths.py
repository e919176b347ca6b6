"""Suggests the nearest path to one that does not exist."""

import difflib
import glob
import os
import pathlib
import re

_ESCAPED = re.compile(r"\[([*?[])\]")


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
