"""Files of separated values with one document in each row."""

import csv
from collections.abc import Iterator
from typing import Any

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import BoundedBytes, RawRecord, read_lines
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import (
    StatedFields,
    check_unicode,
    read_fields,
    read_or_reject,
    reject_empty,
)
from firth.corpus.readers.encodings import blocks_of, invalid_reason
from firth.recipes.corpus.sources import CsvSource


@reject_empty
def read_csv(source: CsvSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, and rejections for rows without one. Blank lines are skipped.

    The reasons of rejection are `empty`; `too_long`; `too_few_columns` and `too_many_columns`, in comparison
    with the first line; `malformed_csv`, for quotation marks that do not enclose fields; `nul`; that of
    `invalid_reason`; and those of `read_fields` and `problem_of`. An unclosed quotation mark costs the rows
    up to `max_document_bytes` after it.
    """
    columns: list[str] | None = None
    for row, record in _Rows(source, file):
        if columns is None:
            columns = [name.strip() for name in row]
            if not record.problem:
                continue
        yield _read_row(source, file, columns, row, record)


def _read_row(
    source: CsvSource, file: SourceFile, columns: list[str], row: list[str], record: RawRecord
) -> Document | Rejection:
    def read() -> tuple[str, StatedFields]:
        if len(row) != len(columns):
            raise UnreadableError("too_few_columns" if len(row) < len(columns) else "too_many_columns")
        return read_fields(source, dict(zip(columns, row, strict=True)))

    return read_or_reject(read, source, file.place, record)


class _Rows:
    """Iterates over the rows of a file, each with its bytes and what is wrong with them."""

    def __init__(self, source: CsvSource, file: SourceFile) -> None:
        self._source, self._file = source, file
        self._max_bytes = source.max_document_bytes
        self._start()

    def _start(self) -> None:
        self._first_line, self._content = 0, BoundedBytes(self._max_bytes)
        self._problem: str | None = None

    def __iter__(self) -> Iterator[tuple[list[str], RawRecord]]:
        # It is one of the whole process. A cell that is longer ends the row, so that no more is held.
        csv.field_size_limit(max(csv.field_size_limit(), self._max_bytes))
        delimiter = self._source.delimiter or ("\t" if ".tsv" in self._file.path else ",")
        quoting: Any = csv.QUOTE_MINIMAL if self._source.quoted else csv.QUOTE_NONE
        rows = csv.reader(self._lines(), delimiter=delimiter, quoting=quoting, strict=True)
        while True:
            try:
                row = next(rows)
            except StopIteration:
                break
            except csv.Error:
                row, self._problem = [], self._problem or "malformed_csv"
            if row or self._problem:
                yield row, self._content.record(self._first_line, self._problem)
            self._start()

    def _lines(self) -> Iterator[str]:
        for line in read_lines(self._file.path, self._max_bytes, blocks_of(self._source, self._file)):
            self._first_line = self._first_line or line.number
            self._content.extend(line.data, line.size)
            self._content.extend(b"\n")
            yield f"{self._text(line)}\n"

    def _text(self, line: RawRecord) -> str:
        if line.problem:
            self._problem = line.problem
            return ""
        try:
            text = check_unicode(line.data.decode("utf-8-sig" if line.number == 1 else "utf-8"))
        except UnicodeDecodeError:
            self._problem = invalid_reason(self._source, self._file)
            return ""
        self._problem = self._problem or ("nul" if "\0" in text else None)
        return text.replace("\0", "").removesuffix("\r")
