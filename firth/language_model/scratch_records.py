"""Records of Python in scratch files, which the readers of labelled data read; errors name the arguments."""

import contextlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firth import storage
from firth.tasks.labelled.data import LabelledData
from firth.tasks.labelled.mixing import TRAIN

_KEYS = re.compile(r"\bdata\.(train|eval|label)\b")


def write_scratch(path: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Writes records as a file of JSON lines."""
    storage.write_text(path, "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in records))


def named_by_arguments(text: str, paths: Mapping[str, str]) -> str:
    """Returns a text in which arguments have the place of the files that their records were written to.

    Args:
        text: Text with paths of files, with or without the number of a line.
        paths: Path of the file by the name of its argument.

    Example:

    >>> named_by_arguments("/a/train.jsonl: none; /a/train.jsonl:4: no text", {"train": "/a/train.jsonl"})
    'train: none; train[3]: no text'
    """
    for name, path in paths.items():
        parts = re.split(f"{re.escape(path)}:(\\d+)", text)
        # Every other part is the number of a line, from 1.
        parts[1::2] = [f"{name}[{int(each) - 1}]" for each in parts[1::2]]
        text = "".join(parts).replace(path, name)
    return text


@contextlib.contextmanager
def naming_arguments(paths: Mapping[str, str]) -> Iterator[None]:
    """Errors of records name the arguments that held them, and the arguments that keys of a recipe are.

    Args:
        paths: Path of the scratch file by the name of its argument.

    Raises:
        ValueError: instead of a ValueError that names such a file.
    """
    try:
        yield
    except ValueError as error:
        text = named_by_arguments(str(error), paths)
        if text == str(error):
            raise
        raise ValueError(_KEYS.sub(r"\1", text)) from None


def warn_of_rejected(found: LabelledData, paths: Mapping[str, str], stacklevel: int) -> None:
    """Warns of the records of each split that are left out.

    Args:
        found: Labelled data.
        paths: Path of the scratch file by the name of its argument.
        stacklevel: Frames from here to the caller's line, as for `warnings.warn`.
    """
    for name, split in found.splits.items():
        if split.rejected:
            first, left_out = split.rejected[0], len(split.rejected)
            # Records are rejected before a part of them is held out.
            parts = found.splits.values() if found.held_out and name == TRAIN else [split]
            count = left_out + sum(len(each.records) for each in parts)
            place = named_by_arguments(f"{first.file}:{first.line}", paths)
            warnings.warn(
                f"{left_out} of {count} records are left out; the first is {place}: {first.detail}",
                stacklevel=stacklevel + 1,
            )
