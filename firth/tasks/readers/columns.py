"""Tables and JSON lines of one's own, by the names of their columns."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from firth.recipes.base.errors import suggest
from firth.tasks.readers.dialogues import ColumnLayout
from firth.tasks.readers.endings import rows_of
from firth.tasks.readers.labels import AnyLabels, ClassLabels
from firth.tasks.readers.records import ROLES, LabelledRecord, LabelledRecords, RefusedFileError
from firth.tasks.readers.row_format import RowFormat

_SPLIT = "data"


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
