"""Records of a file as prompts of one of several tasks, as a model of them learned to read their texts."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from firth.recipes.base.errors import suggest
from firth.recipes.tasks.data import labelled_data_from_json
from firth.recipes.tasks.tasks import task_from_json
from firth.serving.batch.texts import TEXT, TextRecord, Unread, read_texts
from firth.tasks.readers.records import RejectedLine, RejectedRecordError

# The input that names the task of each text.
_TASK = "task"


def several_tasks(described: Mapping[str, Any], name: str) -> Any:
    """Returns the task of a model that learned several from text to text, if a signature asks for it."""
    stated = described.get("recipe", {}).get("task")
    task = None if stated is None else task_from_json(json.dumps(stated))
    return task if task is not None and task.tasks_by_source and task.signature == name else None


def read_prompts(
    described: Mapping[str, Any],
    name: str,
    path: str | os.PathLike[str],
    columns: Mapping[str, str],
    unread: Unread,
    quoted: bool | None = None,
    data_source: str = "",
) -> Iterator[TextRecord]:
    """Yields the records of a file as prompts, each after the prefix of its task.

    The task is that of `data_source`, or the only one. A text that begins with the prefix of a task is a
    prompt, as far as the task has one text or the file no second. Records without a task are rejected.

    Raises:
        ValueError: for a source that no task is of, or a column of no input.
        RefusedFileError: as `read_texts` does.
    """
    task, inputs = several_tasks(described, name), described["signatures"][name]["inputs"]
    tasks = task.tasks_by_source
    if data_source and data_source not in tasks:
        raise ValueError(
            f"there is no task of the source {data_source!r}; {suggest(data_source, tasks)}. "
            f"The prefixes are {_prefixes(tasks)}"
        )
    source = data_source or (next(iter(tasks)) if len(tasks) == 1 else "")
    roles = tasks[source].roles if source else ()
    known = [TEXT, *(role for role in roles if role != TEXT), *([_TASK] if _TASK in inputs else [])]
    for each in columns:
        if each not in known:
            raise ValueError(f"there is no input {each!r}; there are {', '.join(known)}")
    trained = _trained_columns(described, source)
    whole = {role: columns.get(role) or trained.get(role, role) for role in roles}
    alone = {TEXT: columns.get(TEXT, TEXT)}
    named = {each: columns[each] for each in (_TASK,) if each in columns}
    # A file of prompts has no second text, which is needed where the task is named.
    taken, rather = (whole, {}) if data_source else (alone, whole)
    records = read_texts(
        path, {**taken, **named}, unread, rather=rather and {**rather, **named}, quoted=quoted
    )
    for record in records:
        try:
            yield record._replace(texts=_prompt(task, record.texts, source, _TASK in inputs))
        except RejectedRecordError as error:
            unread.add(RejectedLine(error.reason, os.fspath(path), record.line, error.detail))


def _trained_columns(described: Mapping[str, Any], source: str) -> dict[str, str]:
    """Returns the columns of the roles in the data set that a task learned from, where these are files."""
    stated = described["recipe"].get("data")
    data: Any = None if stated is None else labelled_data_from_json(json.dumps(stated))
    parts = [each for each in getattr(data, "parts", ()) if each.source == source]
    return {role: str(column) for each in parts for role, column in getattr(each, "texts", {}).items()}


def _prompt(task: Any, texts: Mapping[str, Any], source: str, names_task: bool) -> dict[str, Any]:
    tasks, text = task.tasks_by_source, texts[TEXT]
    source = texts.get(_TASK) or source
    own = tasks.get(source)
    is_whole = own is not None and all(role in texts for role in own.roles)
    if is_whole and not (len(own.roles) == 1 and own.prefix and text.startswith(own.prefix)):
        text = task.prompt_of(source, texts)
    elif not any(text.startswith(each.prefix) for each in ([own] if own else tasks.values())):
        raise RejectedRecordError(
            "no_task",
            "the text begins with no task's prefix; name the task of the file (--source), or write the "
            f"prefix in front: {_prefixes(tasks)}",
        )
    return {TEXT: text, **({_TASK: source} if names_task and source else {})}


def _prefixes(tasks: Mapping[str, Any]) -> str:
    """Returns the sources of the tasks with what is in front of their texts."""
    return ", ".join(
        f"{source} {each.prefix + (' ' + each.pair_prefix if len(each.roles) > 1 else '')!r}"
        for source, each in tasks.items()
    )
