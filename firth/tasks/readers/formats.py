"""The formats by name, and their files."""

import os

from firth import storage
from firth.recipes.base.errors import suggest
from firth.recipes.base.file_names import suggest_path
from firth.tasks.readers.conll import CONLL, TagFormat
from firth.tasks.readers.glue import GLUE, INFERENCE_FILES, SUPER_GLUE
from firth.tasks.readers.records import LabelledRecords, RefusedFileError
from firth.tasks.readers.row_format import RowFormat
from firth.tasks.readers.squad import SQUAD, SpanFormat
from firth.tasks.readers.texts import TEXTS, ParallelFormat

AnyFormat = RowFormat | TagFormat | SpanFormat | ParallelFormat
FORMATS: dict[str, AnyFormat] = {**GLUE, **SUPER_GLUE, **INFERENCE_FILES, **CONLL, **SQUAD, **TEXTS}
"""The published formats by their names, which `data.format` of a recipe takes: those of GLUE, SuperGLUE,
inference, CoNLL's tags, SQuAD, and parallel texts."""


def format_of(name: str) -> AnyFormat:
    """Returns a format by its name.

    Args:
        name: Key of `FORMATS`.

    Raises:
        ValueError: for an unknown name, with the nearest.

    Example:

    >>> format_of("sst2").title
    'GLUE SST-2'
    """
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}; {suggest(name, FORMATS)}")
    return FORMATS[name]


def read_file(name: str, path: str, split: str = "train", *, labelled: bool = True) -> LabelledRecords:
    """Returns the records of a file.

    Args:
        name: Key of `FORMATS`.
        path: File on any file system, compressed with gzip or not.
        split: Name of the split, which tells whether the first line names the columns (CoLA).
        labelled: Whether the file has labels; if not, all labels are None.

    Raises:
        ValueError: for an unknown name; as `RefusedFileError` if the file cannot be read.
    """
    return format_of(name).read(path, split, labelled=labelled)


def read_split(name: str, folder: str, split: str) -> LabelledRecords:
    """Returns the records of a split; those of a test split that has no labels are without labels.

    Args:
        name: Key of `FORMATS`.
        folder: Folder of the files, or of GLUE's folders.
        split: Name of the split: `train`, `dev`, `test`, and of MNLI `dev_mismatched` and `test_mismatched`.

    Raises:
        ValueError: for an unknown name or split.
        RefusedFileError: if there is no such file, with those that are, or it cannot be read.
    """
    described = format_of(name)
    path = split_file(name, folder, split)
    return described.read(path, split, labelled=split not in described.unlabelled)


def split_files(name: str, folder: str, split: str) -> list[str]:
    """Returns the paths of all files that a split is read from.

    Args:
        name: Key of `FORMATS`.
        folder: Folder of the files, or of GLUE's folders.
        split: Name of the split.

    Raises:
        ValueError: for an unknown name or split.
        RefusedFileError: if there is no such file, with those that are.
    """
    path = split_file(name, folder, split)
    partner_of = getattr(format_of(name), "partner_of", None)
    return [path] if partner_of is None else [path, partner_of(path)]


def split_file(name: str, folder: str, split: str) -> str:
    """Returns the path of a split's file.

    Args:
        name: Key of `FORMATS`.
        folder: Folder of the files, or of GLUE's folders.
        split: Name of the split.

    Raises:
        ValueError: for an unknown name or split.
        RefusedFileError: if there is no such file, with those that are.
    """
    described = format_of(name)
    if split not in described.files:
        raise ValueError(f"{described.title} has no split {split!r}; {suggest(split, described.files)}")
    homes = [os.path.join(folder, described.folder), folder] if described.folder else [folder]
    names = [name + ending for name in described.files[split] for ending in ("", ".gz")]
    for home in homes:
        for name in names:
            if storage.exists(os.path.join(home, name)):
                return os.path.join(home, name)
    there = sorted({each for home in homes for each in storage.list_folder(home)})
    raise RefusedFileError(
        f"{folder}: there is no {' or '.join(described.files[split])} of {described.title}; "
        f"there is {', '.join(there) or f'nothing{suggest_path(folder)}'}"
    )


def has_split(name: str, folder: str, split: str) -> bool:
    """Returns whether a split can be read in a folder."""
    try:
        return bool(split_file(name, folder, split))
    except ValueError:
        return False
