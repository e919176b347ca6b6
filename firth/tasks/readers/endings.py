"""The kinds of rows by the ending of a file's name."""

import os
from typing import Any

from firth.recipes.base.errors import suggest
from firth.tasks.readers.json_rows import JsonRows
from firth.tasks.readers.records import RefusedFileError
from firth.tasks.readers.rows import CsvRows, JsonlRows, QuotedTsvRows, TsvRows, UnquotedTsvRows
from firth.tasks.readers.sentence_rows import ConllRows, ConlluRows

Rows = TsvRows | CsvRows | JsonlRows | JsonRows | ConllRows
ROWS: dict[str, type[Rows]] = {
    ".tsv": UnquotedTsvRows,
    ".csv": CsvRows,
    ".jsonl": JsonlRows,
    ".json": JsonRows,
    ".conll": ConllRows,
    ".conllu": ConlluRows,
    ".iob2": ConllRows,
    ".bio": ConllRows,
}

# Of a tsv, by what is known of quotation marks around its cells.
TSV: dict[bool | None, type[Rows]] = {None: UnquotedTsvRows, True: QuotedTsvRows, False: TsvRows}


def rows_of(path: str, quoted: bool | None = None) -> type[Rows]:
    """Returns how the rows of a file are written, by its ending.

    Raises:
        RefusedFileError: if the ending is not known, with the nearest.
    """
    rows = ROWS[ending_of(path, ROWS)]
    return TSV[quoted] if rows is TSV[None] else rows


def ending_of(path: str, endings: dict[str, Any]) -> str:
    """Returns the ending of a file's name, in small letters and without that of gzip."""
    ending = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    if ending not in endings:
        raise RefusedFileError(f"{path}: the ending {ending!r} is unknown; {suggest(ending, endings)}")
    return ending
