"""The table of the kinds of labelled data: their files, records, classes and scores."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from firth import storage
from firth.recipes.base.errors import suggest
from firth.recipes.base.file_names import suggest_path
from firth.recipes.tasks.data import ColumnData, DataMixture, DocstringsData, PublishedData
from firth.recipes.tasks.task import Task
from firth.tasks.labelled.docstring_records import DocstringTask, docstring_records, docstring_task
from firth.tasks.labelled.docstrings import python_digests
from firth.tasks.labelled.mixing import EVAL, TRAIN, read_mixture
from firth.tasks.readers import (
    LABELS,
    LabelledRecords,
    RefusedFileError,
    RejectedLine,
    format_of,
    read_columns,
    read_split,
    split_files,
)
from firth.tasks.readers.formats import AnyFormat
from firth.tasks.readers.labels import NO_ANSWER
from firth.tasks.readers.row_format import LISTS


class DataReader(NamedTuple):
    """The functions that read a kind of labelled data. Each raises ValueError if data are missing.

    Attributes:
        fingerprint: Returns texts that change when what is read of the data changes.
        read: Returns the records of a split of data for a task. Of data of which a share is held out, there
            is `train` alone.
        classes: Returns the names of the classes, or tags, in the order of who published the data; empty if
            nobody has.
        scores: Returns the names of the scores that are published of the data; empty if none are.
    """

    fingerprint: Callable[[Any], list[str]]
    read: Callable[[Any, Task, str], LabelledRecords]
    classes: Callable[[Any], tuple[str, ...]]
    scores: Callable[[Any], tuple[str, ...]]


def _fingerprint_of_files(*paths: str) -> list[str]:
    for path in paths:
        _check_there(path)
    return [part for path in paths for part in (path, storage.digest_of(path).hex())]


def _check_there(path: str) -> None:
    if not storage.exists(path) or storage.is_folder(path):
        said = "this is a folder" if storage.is_folder(path) else f"there is no such file{suggest_path(path)}"
        raise RefusedFileError(f"{path}: {said}")


def _published_fingerprint(data: PublishedData) -> list[str]:
    splits = filter(None, dict.fromkeys((data.train, data.eval)))
    files = (file for split in splits for file in split_files(data.format, data.folder, split))
    return _fingerprint_of_files(*files)


def _read_published(data: PublishedData, task: Task, split: str) -> LabelledRecords:
    described = format_of(data.format)
    roles = _roles_of_task(described, task, "data.format")
    for each, name in ((TRAIN, data.train), (EVAL, data.eval)):
        if name in described.unlabelled:
            raise RefusedFileError(
                f"data.{each}: the split {name!r} of {described.title} has no labels: it can be predicted, "
                "but neither learned from nor scored"
            )
    found = read_split(data.format, data.folder, {TRAIN: data.train, EVAL: data.eval or data.train}[split])
    return _with_roles(_answerable(found, task), roles)


def _answerable(found: LabelledRecords, task: Task) -> LabelledRecords:
    """Returns records without those that have no answer, if the task has to give one."""
    if task.label_options.get("unanswerable", True):
        return found
    kept = LabelledRecords(found.file, rejected=list(found.rejected), labels=found.labels)
    for record in found.records:
        if record.label == ():
            kept.rejected.append(RejectedLine("no_label", record.file, record.line, NO_ANSWER))
        else:
            kept.records.append(record)
    kept.check_any()
    return kept


def _with_roles(found: LabelledRecords, roles: Mapping[str, str]) -> LabelledRecords:
    if all(role == other for role, other in roles.items()):
        return found
    for number, record in enumerate(found.records):
        texts = {roles[role]: text for role, text in record.texts.items()}
        found.records[number] = dataclasses.replace(record, texts=texts)
    return found


def _roles_of_task(described: AnyFormat | DocstringTask, task: Task, key: str) -> dict[str, str]:
    """Returns the task's role for each of a format's: the same, or else the one at its place.

    A format that does not fit the task is refused.
    """
    if not isinstance(described.labels, LABELS[task.label_type]):
        label_type = next(name for name, rule in LABELS.items() if isinstance(described.labels, rule))
        raise RefusedFileError(
            f"{key}: a label of {described.title} is of the type {label_type}; task.kind: {task.kind} "
            f"learns labels of the type {task.label_type}"
        )
    if set(described.roles) == set(task.roles):
        return dict(zip(described.roles, described.roles))
    shapes = [[role if role in LISTS else "" for role in roles] for roles in (described.roles, task.roles)]
    if shapes[0] != shapes[1]:
        raise RefusedFileError(
            f"{key}: a record of {described.title} has the texts {', '.join(described.roles)}; "
            f"task.kind: {task.kind} reads {', '.join(task.roles)}"
        )
    return dict(zip(described.roles, task.roles))


def _column_fingerprint(data: ColumnData) -> list[str]:
    return _fingerprint_of_files(*(path for path in (data.train, data.eval) if path is not None))


def _read_columns(data: ColumnData, task: Task, split: str) -> LabelledRecords:
    path = {TRAIN: data.train, EVAL: data.eval or data.train}[split]
    label = {TRAIN: data.label, EVAL: data.eval_label or data.label}[split]
    _check_roles(data, task)
    _check_there(path)
    if label is None and task.unlabelled is None:
        raise RefusedFileError(f"data.label: name the column of labels, which task.kind: {task.kind} learns")
    if label in {
        each for said in data.texts.values() for each in ([said] if isinstance(said, str) else said)
    }:
        raise RefusedFileError(
            f"data.label: {label!r} is a column of data.texts too; a label is in another one"
        )
    rule: Any = LABELS[task.label_type]
    rules = rule(**task.label_options)
    return read_columns(path, data.texts, label=label, labels=rules, id_column=data.id, quoted=data.quoted)


def _check_roles(data: ColumnData, task: Task) -> None:
    for role in data.texts:
        if role not in task.roles:
            raise RefusedFileError(
                f"data.texts: {role!r} is not a text that task.kind: {task.kind} reads; "
                f"{suggest(role, task.roles)}"
            )
    for role in task.roles:
        if role not in data.texts:
            raise RefusedFileError(
                f"data.texts: there is no column for {role!r}, which task.kind: {task.kind} reads"
            )


def _read_docstrings(data: DocstringsData, task: Task, split: str) -> LabelledRecords:
    roles = _roles_of_task(docstring_task(data), task, "data.task")
    return _with_roles(docstring_records(data), roles)


def _mixture_fingerprint(data: DataMixture) -> list[str]:
    return [text for part in data.parts for text in LABELLED_DATA[part.kind].fingerprint(part)]


def _same(values: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the value of all parts; empty if they differ."""
    first, *others = values
    return first if all(other == first for other in others) else ()


LABELLED_DATA: dict[str, DataReader] = {
    "published": DataReader(
        _published_fingerprint,
        _read_published,
        lambda data: format_of(data.format).labels.names or (),
        lambda data: format_of(data.format).scores,
    ),
    "columns": DataReader(_column_fingerprint, _read_columns, lambda data: (), lambda data: ()),
    "docstrings": DataReader(
        lambda data: python_digests(data.packages),
        _read_docstrings,
        lambda data: docstring_task(data).labels.names or (),
        lambda data: docstring_task(data).scores,
    ),
    "mixture": DataReader(
        _mixture_fingerprint,
        lambda data, task, split: read_mixture(data, task, split, LABELLED_DATA),
        lambda data: _same(LABELLED_DATA[part.kind].classes(part) for part in data.parts),
        lambda data: _same(LABELLED_DATA[part.kind].scores(part) for part in data.parts),
    ),
}
