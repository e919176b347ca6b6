"""The texts of a file, one record after another, and the records that cannot be read."""

import dataclasses
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from firth.tasks.readers.dialogues import prompt_of_messages
from firth.tasks.readers.endings import ROWS, TSV, Rows, ending_of
from firth.tasks.readers.records import (
    MESSAGES,
    RefusedFileError,
    RejectedLine,
    RejectedRecordError,
    value_of,
)
from firth.tasks.readers.row_format import LISTS, text_of_role
from firth.tasks.readers.rows import UnquotedTsvRows, missing_column
from firth.tasks.readers.text_files import checked_text, lines_of

TEXT = "text"
FIRST = 10


class TextLines:
    r"""Lines that are each a text.

    Attributes:
        columns: The one column, `text`.
    """

    named_in: ClassVar[str] = "a file of texts"

    def __init__(self, path: str, lines: Iterable[str], header: Sequence[str] | None = None) -> None:
        self._lines = lines
        self.columns: list[str] | None = [TEXT]

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(self._lines, 1):
            yield number, line.removesuffix("\n").removesuffix("\r")

    def values(self, row: Any) -> Mapping[str, Any]:
        """Returns the text of a line, by the name of the column."""
        return {TEXT: row}


class MissingColumnError(RefusedFileError):
    """A file lacks the column of an input."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{problem} (say which it is with --column {name}=COLUMN)")
        self.input, self.problem = name, problem


class _TsvTexts(UnquotedTsvRows):
    """Rows of a tsv, of which nothing says what quotation marks mean."""

    advice: ClassVar[str] = (
        "say whether they are around cells (--quoted, or predictions.quoted: true) or a part of the text "
        "(--no-quoted, or predictions.quoted: false)"
    )


_READERS: dict[str, type[Rows | TextLines]] = {**ROWS, ".tsv": _TsvTexts, ".txt": TextLines}


class TextRecord(NamedTuple):
    """The texts that a signature is asked about.

    Attributes:
        line: Line that the record begins in, from 1.
        texts: Text of each input, or a tuple of texts.
    """

    line: int
    texts: Mapping[str, str | tuple[str, ...]]


@dataclasses.dataclass
class Unread:
    """The records of a file that could not be read.

    Attributes:
        counts: Number of records by reason.
        first: The first of them.
    """

    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    first: list[RejectedLine] = dataclasses.field(default_factory=list)

    def add(self, rejected: RejectedLine) -> None:
        """Counts a record."""
        self.counts[rejected.reason] += 1
        if len(self.first) < FIRST:
            self.first.append(rejected)


def read_texts(
    path: str | os.PathLike[str],
    columns: Mapping[str, str | Sequence[str]],
    unread: Unread,
    needs: str = "",
    rather: Mapping[str, str] | None = None,
    quoted: bool | None = None,
    with_reply: bool = False,
) -> Iterator[TextRecord]:
    """Yields the records of a csv, tsv, jsonl or txt file, in its order, with only one line in memory.

    Raises:
        RefusedFileError: if the file does not exist, or its ending is unknown.
    """
    name = os.fspath(path)
    reader = _READERS[ending_of(name, _READERS)]
    if reader is _TsvTexts and quoted is not None:
        reader = TSV[quoted]
    rows = reader(name, lines_of(path))
    other = dict(rather or {})
    if rows.columns is not None and not _has(other, rows.columns):
        for given, column in _each(columns):
            if column not in rows.columns:
                raise MissingColumnError(given, missing_column(name, rows, column))
    for line, row in rows:
        try:
            values = rows.values(row)
            taken = other if _has(other, values) else columns
            yield TextRecord(line, _texts(values, taken, needs, with_reply))
        except RejectedRecordError as error:
            unread.add(RejectedLine(error.reason, name, line, error.detail))


def _has(columns: Mapping[str, str], known: Collection[str]) -> bool:
    return bool(columns) and all(column in known for column in columns.values())


def _each(columns: Mapping[str, str | Sequence[str]]) -> Iterator[tuple[str, str]]:
    for name, said in columns.items():
        yield from ((name, column) for column in ([said] if isinstance(said, str) else said))


def _texts(
    values: Mapping[str, Any], columns: Mapping[str, str | Sequence[str]], needs: str, with_reply: bool
) -> dict[str, str | tuple[str, ...]]:
    texts: dict[str, str | tuple[str, ...]] = {}
    for name, column in columns.items():
        if name == MESSAGES:
            texts |= prompt_of_messages(value_of(values, str(column)), str(column), with_reply)
        else:
            texts[name] = _text(values, column, name)
    if needs not in texts.get(TEXT, ""):
        raise RejectedRecordError("nothing_asked", f"there is no {needs} in it")
    return texts


def _text(values: Mapping[str, Any], column: str | Sequence[str], name: str) -> str | tuple[str, ...]:
    if name in LISTS or not isinstance(column, str):
        return text_of_role(values, column if isinstance(column, str) else tuple(column), name)
    return checked_text(value_of(values, column), repr(column))
