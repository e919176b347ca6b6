"""The kinds of rows by the ending of a file's name."""

import os
from typing import Any

from firth.recipes.base.errors import suggest
from firth.tasks.readers.json_rows import JsonRows
from firth.tasks.readers.records import RefusedFileError
from firth.tasks.readers.rows import CsvRows, JsonlRows, TsvRows
from firth.tasks.readers.sentence_rows import ConllRows, ConlluRows

Rows = TsvRows | CsvRows | JsonlRows | JsonRows | ConllRows
ROWS: dict[str, type[Rows]] = {
    ".tsv": TsvRows,
    ".csv": CsvRows,
    ".jsonl": JsonlRows,
    ".json": JsonRows,
    ".conll": ConllRows,
    ".conllu": ConlluRows,
    ".iob2": ConllRows,
    ".bio": ConllRows,
}


def ending_of(path: str, endings: dict[str, Any]) -> str:
    """Returns the ending of a file's name, in small letters and without that of gzip.

    Args:
        path: Path of the file.
        endings: Table by the endings that are known.

    Raises:
        RefusedFileError: if it is not known, with the nearest.
    """
    ending = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    if ending not in endings:
        raise RefusedFileError(f"{path}: the ending {ending!r} is unknown; {suggest(ending, endings)}")
    return ending
