"""Formats of one record a row: published tables, and tables of one's own by the names of their columns."""

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from firth.recipes.base.errors import suggest
from firth.tasks.readers.dialogues import ColumnLayout
from firth.tasks.readers.endings import Rows, rows_of
from firth.tasks.readers.labels import AnyLabels, ClassLabels
from firth.tasks.readers.records import (
    CHOICES,
    MESSAGES,
    ROLES,
    WORDS,
    Label,
    LabelledRecord,
    LabelledRecords,
    Read,
    RefusedFileError,
    RejectedRecordError,
    value_of,
)
from firth.tasks.readers.rows import missing_column
from firth.tasks.readers.text_files import checked_text, lines_of, split_at_spaces

Values = Mapping[str, Any]
# Roles of several texts: all others have one.
LISTS = (CHOICES, WORDS, MESSAGES)
# Name of the one split of a file of one's own.
_SPLIT = "data"


@dataclasses.dataclass(frozen=True)
class RowFormat:
    """A format of tables or JSON lines.

    Attributes:
        title: Name of the data set.
        rows: How the rows are written.
        texts: Column of each text by its role; several columns for the choices.
        labels: What the label can be.
        label_column: Column of the label.
        files: Names of the file of each split; the first that is there is read.
        scores: Names of the scores that are published of it, in `firth.scores.SCORES`.
        folder: Folder that the files are usually in.
        unlabelled: Splits without labels.
        id_columns: Columns of ids; the first that is there is read, and the line is the id if none is.
        needs_ids: Whether a file without the first column of ids is refused.
        headers: Columns of the splits whose file does not name them.
        rows_of: Returns functions that each return a row within a row, where one object of JSON holds several
            records, and raise RejectedRecordError if it is not one.
        columns: Columns that a table must have; None for those of texts, label and ids.
    """

    title: str
    rows: type[Rows]
    texts: Mapping[str, str | tuple[str, ...]]
    labels: AnyLabels
    label_column: str
    files: Mapping[str, tuple[str, ...]]
    scores: tuple[str, ...] = ()
    folder: str = ""
    unlabelled: frozenset[str] = frozenset()
    id_columns: tuple[str, ...] = ()
    needs_ids: bool = False
    headers: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    rows_of: Callable[[Values], Iterable[Callable[[], Values]]] | None = None
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for role, column in self.texts.items():
            if role != CHOICES and not isinstance(column, str):
                raise ValueError(f"the role {role!r} has one column, not {column!r}")

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the texts of a record."""
        return tuple(self.texts)

    def read(self, path: str, split: str, *, labelled: bool) -> LabelledRecords:
        """Returns the records of a file."""
        rows = self.rows(path, lines_of(path), self.headers.get(split))
        wanted = [*self._text_columns(), *self.id_columns[: self.needs_ids]]
        wanted += [self.label_column] if labelled else []
        for name in wanted if self.columns is None else self.columns:
            if rows.columns is not None and name not in rows.columns:
                raise RefusedFileError(missing_column(path, rows, name))
        found = LabelledRecords(path, labels=self.labels.names)
        for line, row in rows:
            read = functools.partial(
                self._record, path=path, line=line, labelled=labelled, own_id=rows.id_column
            )
            found.take(line, functools.partial(self._records, rows, row, read))
        found.check_any()
        if labelled and (problem := self.labels.problem_of(found.records)):
            raise RefusedFileError(f"{path}: line {found.records[0].line}: {problem}")
        return found

    def _records(
        self, rows: Rows, row: Any, read: Callable[[Callable[[], Values]], LabelledRecord]
    ) -> Iterable[Read]:
        inner = self.rows_of(rows.values(row)) if self.rows_of else [lambda: rows.values(row)]
        for values_of in inner:
            yield functools.partial(read, values_of)

    def _record(
        self, values_of: Callable[[], Values], *, path: str, line: int, labelled: bool, own_id: str
    ) -> LabelledRecord:
        values = values_of()
        texts = {role: text_of_role(values, column, role) for role, column in self.texts.items()}
        label: Label = None
        if labelled:
            label = self.labels.read(value_of(values, self.label_column), texts)
        return LabelledRecord(self._id(values, line, own_id), texts, label, path, line)

    def _text_columns(self) -> list[str]:
        return [
            column for each in self.texts.values() for column in ((each,) if isinstance(each, str) else each)
        ]

    def _id(self, values: Values, line: int, own: str) -> str:
        for column in self.id_columns or ((own,) if own else ()):
            if column in values or self.needs_ids:
                found = value_of(values, column)
                if found in (None, ""):
                    raise RejectedRecordError("no_id", f"{column!r} is empty")
                return str(found)
        return str(line)


def text_of_role(values: Values, column: str | tuple[str, ...], role: str) -> str | tuple[str, ...]:
    """Returns the text of a role, or its several texts."""
    if isinstance(column, tuple):
        return tuple(checked_text(value_of(values, each), repr(each)) for each in column)
    value = value_of(values, column)
    if role == WORDS and isinstance(value, str):
        value = split_at_spaces(value)
    if role not in LISTS:
        return checked_text(value, repr(column))
    if not isinstance(value, list):
        raise RejectedRecordError("not_a_list", f"{column!r} is {value!r}, not a list of {role}")
    if not value:
        raise RejectedRecordError("empty_text", f"{column!r} is empty")
    return tuple(checked_text(each, repr(column)) for each in value)


def read_columns(
    path: str,
    texts: Mapping[str, str | tuple[str, ...]],
    *,
    label: str | None = "label",
    labels: AnyLabels | None = None,
    id_column: str | None = None,
    header: Sequence[str] | None = None,
    quoted: bool | None = None,
) -> LabelledRecords:
    """Returns the records of a file of one's own.

    Args:
        path: File on any file system, compressed with gzip or not. Its ending tells the kind of rows: csv,
            tsv, jsonl; json, a list of objects, or SQuAD's form with the columns `id`, `question`, `context`
            and `answers`; conll, bio, iob2 or conllu, tagged words with the columns `words` and `tags`.
        texts: Column of each text by its role, such as `{"text": "review"}`. Choices are a list of JSON in
            one column, or a tuple of columns.
        label: Column of labels; None for a file without labels.
        labels: What labels can be. None for classes, two or more, by the names that occur, sorted.
        id_column: Column of ids; None for those of the form, if it has some, or else for lines.
        header: Names of the columns if the first line does not name them.
        quoted: Whether cells of a tsv may be in quotation marks, as of csv; if not, these are a part of the
            text. None refuses a tsv with such a cell.

    Raises:
        ValueError: for an unknown role, with the nearest, or several columns of a role that has one text.
        RefusedFileError: if the ending is unknown, a column is missing, with the nearest, no record can be
            read, or there is only one class.
    """
    for role in texts:
        if role not in ROLES:
            raise ValueError(f"unknown role {role!r} of a text; {suggest(role, ROLES)}")
    rows = rows_of(path, quoted)
    rule = labels if labels is not None else ClassLabels()
    layout = _layout(rule, texts, label)
    described = RowFormat(
        os.path.basename(path),
        rows,
        layout.texts,
        rule,
        layout.label,
        {},
        rows_of=layout.rows_of,
        columns=layout.columns and (*layout.columns, *filter(None, [id_column])),
        id_columns=(id_column,) if id_column else (),
        needs_ids=True,
        headers={_SPLIT: tuple(header)} if header else {},
    )
    found = described.read(path, _SPLIT, labelled=bool(layout.label))
    if label is not None and labels is None:
        found.labels = _classes(path, label, found.records)
    return found


def _layout(rule: Any, texts: Mapping[str, str | tuple[str, ...]], label: str | None) -> ColumnLayout:
    """Returns the columns of records: those that the labels state, or one for each value."""
    said = getattr(rule, "layout", None)
    return ColumnLayout(texts, label or "") if said is None else said(texts, label)


def _classes(path: str, label: str, records: list[LabelledRecord]) -> tuple[str, ...]:
    names = sorted({str(record.label) for record in records})
    if len(names) < 2:
        raise RefusedFileError(
            f"{path}: all {len(records)} records have the {label} {names[0]!r}; a task needs two classes"
        )
    return tuple(names)
