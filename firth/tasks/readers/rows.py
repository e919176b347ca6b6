"""Rows of tables and of JSON lines: their places, their columns, and their values by column."""

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from firth.recipes.base.errors import suggest
from firth.tasks.readers.records import RefusedFileError, RejectedRecordError

# Where a table names its columns, for errors.
_FIRST_LINE = "line 1"
# What may be between the cells of a table that its ending does not tell, and what to do about it.
_SEPARATORS = {
    "\t": "tabs; the name of such a file ends with .tsv",
    ",": "commas; the name of such a file ends with .csv",
    ";": "semicolons; save it with commas, as .csv",
}


# Longer cells are no texts of records: a quotation mark is open, or a file is in a cell.
_LONGEST_CELL = 2**17
# Replaces NUL, which `csv` refuses up to Python 3.10 alone. No decoded text has this character.
_NUL = "\udc00"


class TsvRows:
    r"""Rows with tabs between cells. Quotation marks are characters as any other, as in GLUE.

    Attributes:
        columns: Names of the columns.

    Raises:
        RefusedFileError: if a column is named twice, or there is no first line.
    """

    named_in: ClassVar[str] = _FIRST_LINE
    id_column: ClassVar[str] = ""

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        self._path = path
        self._lines = ((number, line.replace("\0", _NUL)) for number, line in _numbered(lines) if line)
        self.columns: list[str] | None = _columns(path, header or next(self._lines, (1, ""))[1].split("\t"))

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self._lines

    def values(self, row: Any) -> Mapping[str, Any]:
        """Returns the values of a row by column.

        Raises:
            RejectedRecordError: if it has more or fewer cells than there are columns.
        """
        return _by_column(self.columns or [], row.split("\t"))


class UnquotedTsvRows(TsvRows):
    r"""Rows with tabs between cells, of which none may be in quotation marks.

    Whether such marks are a part of the text, or were put around it by the program that wrote the file,
    cannot be seen.
    """

    advice: ClassVar[str] = (
        "say whether they are around cells (data.quoted: true), as pandas and spreadsheet programs write "
        "them, or are a part of the text (data.quoted: false)"
    )

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        super().__init__(path, lines, header)
        for name in self.columns or ():
            self._check(name, 1)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for number, line in self._lines:
            # Most lines have no such mark.
            if '"' in line:
                for cell in line.split("\t"):
                    self._check(cell, number)
            yield number, line

    def _check(self, cell: str, line: int) -> None:
        if _QUOTED_CELL.fullmatch(cell) or (cell.startswith('"') and cell.count('"') % 2):
            raise RefusedFileError(
                f"{self._path}: line {line}: the cell {_shortened(cell)} is in quotation marks, or begins "
                f"with one; {self.advice}"
            )


_QUOTED_CELL = re.compile(r'"(?:[^"]|"")*"')
_SHOWN = 40


def _shortened(cell: str) -> str:
    return cell if len(cell) <= _SHOWN else f"{cell[:_SHOWN]}..."


_QUOTES = 'does a quotation mark not close, or is a " within a text not written ""?'
_NO_TEXT = "is it a table in text, and not that of a spreadsheet program?"


class CsvRows:
    r"""Rows of CSV (RFC 4180), with or without quotation marks, and with line ends within them.

    Attributes:
        columns: Names of the columns.
    """

    named_in: ClassVar[str] = _FIRST_LINE
    id_column: ClassVar[str] = ""
    delimiter: ClassVar[str] = ","

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        self._path = path
        self._rows = self._numbered(lines)
        self.columns: list[str] | None = _columns(path, header or next(self._rows, (1, []))[1])

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self._rows

    def _numbered(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        # The limit is of all readers of the process; a long cell is rejected with its own record.
        csv.field_size_limit(sys.maxsize)
        reader = csv.reader(_split_at_returns(lines), delimiter=self.delimiter, strict=True)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise RefusedFileError(
                f"{self._path}: line {line}: {error}, read up to line {reader.line_num}; {_QUOTES}"
            ) from error

    def values(self, row: Any) -> Mapping[str, Any]:
        """Returns the values of a row by column.

        Raises:
            RejectedRecordError: if it has more or fewer cells than there are columns.
        """
        return _by_column(self.columns or [], row)


class QuotedTsvRows(CsvRows):
    r"""Rows of CSV with tabs between cells, which may be in quotation marks."""

    delimiter: ClassVar[str] = "\t"


class JsonlRows:
    r"""Lines that are each an object of JSON.

    Attributes:
        columns: None, since each line names its own.
    """

    named_in: ClassVar[str] = ""
    id_column: ClassVar[str] = ""

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        self._lines = ((number, line) for number, line in _numbered(lines) if line and not line.isspace())
        self.columns: list[str] | None = None

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return self._lines

    def values(self, row: Any) -> Mapping[str, Any]:
        """Returns the values of a line by name; those of an object within it by `outer.inner` as well."""
        try:
            found = json.loads(row)
        except (ValueError, RecursionError) as error:
            said = _NO_LINES if row.lstrip().startswith("[") else f"not JSON: {error}"
            raise RejectedRecordError("not_json", said) from error
        return values_of_object(found)


_NO_LINES = "a list begins here; a .jsonl file has an object on each line, and a list is for .json"


def values_of_object(found: Any) -> Mapping[str, Any]:
    """Returns the values of an object of JSON by name; those of an object in it by `outer.inner` as well."""
    if not isinstance(found, dict):
        raise RejectedRecordError("not_json", "JSON, but not an object")
    inner = [(key, value) for key, value in found.items() if isinstance(value, dict)]
    return found | {f"{key}.{name}": each for key, value in inner for name, each in value.items()}


def missing_column(path: str, rows: Any, name: str) -> str:
    """Returns the message on a missing column, with the nearest one, or with the separator of cells."""
    said = f"{path}: there is no column {name!r} in {rows.named_in}"
    if len(rows.columns) == 1:
        for separator, advice in _SEPARATORS.items():
            if separator in rows.columns[0]:
                return f"{said}, where names are between {advice}"
    return f"{said}; {suggest(name, rows.columns)}"


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        yield number, line.removesuffix("\n").removesuffix("\r")


def _split_at_returns(lines: Iterable[str]) -> Iterator[str]:
    """Yields lines that end at a carriage return too, which some programs write alone; NULs get a mark."""
    for line in lines:
        yield from io.StringIO(line.replace("\0", _NUL), newline="")


def _columns(path: str, names: Sequence[str]) -> list[str]:
    if any(_NUL in name for name in names):
        raise RefusedFileError(f"{path}: the line that names the columns contains a NUL; {_NO_TEXT}")
    columns = [name.strip() for name in names]
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if not any(columns):
        raise RefusedFileError(f"{path}: there is no line that names the columns")
    if twice:
        raise RefusedFileError(f"{path}: two columns are named {twice[0]!r}")
    return columns


def _by_column(columns: list[str], cells: list[str]) -> Mapping[str, Any]:
    if len(cells) != len(columns):
        raise RejectedRecordError("wrong_columns", f"{len(cells)} cells, but {len(columns)} columns")
    for column, cell in zip(columns, cells):
        if len(cell) > _LONGEST_CELL:
            said = f"{column!r} has {len(cell):,} characters, of at most {_LONGEST_CELL:,} in a cell"
            raise RejectedRecordError("long_cell", said)
        if _NUL in cell:
            raise RejectedRecordError("nul", f"{column!r} contains a NUL")
    return dict(zip(columns, cells))
