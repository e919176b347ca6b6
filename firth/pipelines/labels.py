"""What a recipe that adapts a model takes from its labelled data."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from firth.recipes.base.errors import suggest
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.data import DocstringsData
from firth.recipes.tasks.tasks import task_types
from firth.scores import score_of
from firth.tasks.docstrings import DOCSTRING_TASKS
from firth.tasks.labelled_data import class_names, published_scores, read_labelled_data
from firth.tasks.readers import format_of
from firth.tasks.readers.records import PAIR, QUESTION, TEXT

# Keys of tasks that a format's labels say.
_STATED = ("positive", "unanswerable")
AdaptingT = TypeVar("AdaptingT", bound=AdaptingRecipe)


def with_labels(recipe: AdaptingT) -> AdaptingT:
    """Returns a recipe with what it leaves open to its data.

    Empty `task.labels` become the classes of the data: in the order of a published format, or else the names
    that the training records have, in the task's order. `task.scores` that the recipe does not state become
    those that are published of the format.

    Args:
        recipe: Recipe that adapts a model.

    Raises:
        ValueError: if the training data cannot be read, or do not fit the task; for an unknown score.
    """
    task, data = recipe.task, recipe.data
    if task.unlabelled is not None:
        read_labelled_data(data, task)
    parts = {part.source: part for part in getattr(data, "parts", ())}
    own = {source: _filled(each, parts[source]) for source, each in task.tasks_by_source.items()}
    task = _filled(task.with_tasks(own) if own else task, data)
    return recipe if task is recipe.task else recipe.model_copy(update={"task": task})


def _filled(task: Any, data: Any) -> Any:
    """Returns a task with what it leaves open to its data; the same where it leaves nothing."""
    filled = dict[str, Any]()
    for name in task.scores:
        score_of(name)
    if getattr(task, "labels", None) == ():
        filled["labels"] = class_names(data, task)
    scores = published_scores(data)
    if scores and task.takes_published_scores and "scores" not in task.model_fields_set:
        filled["scores"] = scores
    if not filled:
        return task
    stated = {name: getattr(task, name) for name in task.model_fields_set}
    return type(task)(**{**stated, **filled})


def task_of_format(name: str) -> dict[str, Any]:
    """Returns the task of a published data set, as a recipe says it.

    Args:
        name: Key of `firth.tasks.readers.FORMATS`.

    Raises:
        ValueError: for an unknown name, with the nearest; or if no kind of task is trained on it.

    Example:

    >>> task_of_format("rte")
    {'kind': 'classification', 'pair': True}
    >>> task_of_format("wnut17"), task_of_format("copa")
    ({'kind': 'tagging'}, {'kind': 'choice', 'question': True})
    >>> task_of_format("squad2")
    {'kind': 'span', 'unanswerable': True}
    """
    described: Any = format_of(name)
    labels = described.labels
    kinds = task_types()
    if labels.task not in kinds:
        there = ", ".join(kinds)
        raise ValueError(f"{described.title} is a task of the kind {labels.task}; there are {there}")
    said: dict[str, Any] = {"kind": labels.task}
    fields = kinds[labels.task].model_fields
    said |= {role: role in described.texts for role in (PAIR, QUESTION) if role in fields}
    return said | {name: getattr(labels, name) for name in _STATED if getattr(labels, name, None)}


def published_data(name: str, folder: str) -> dict[str, Any]:
    """Returns the data of a published data set, as a recipe says them: scored on `dev`, or else on `test`.

    Args:
        name: Key of `firth.tasks.readers.FORMATS`.
        folder: Folder of its files.

    Raises:
        ValueError: for an unknown name, with the nearest.

    Example:

    >>> published_data("conll2000", "conll")
    {'kind': 'published', 'format': 'conll2000', 'folder': 'conll', 'eval': 'test'}
    """
    splits = format_of(name).files
    return {
        "kind": "published",
        "format": name,
        "folder": folder,
        "eval": "dev" if "dev" in splits else "test",
    }


def docstring_data(kind: str) -> dict[str, Any]:
    """Returns data for those who have none, as a recipe says them: records made of docstrings.

    Args:
        kind: Kind of the task.

    Raises:
        ValueError: if no records for this kind of task are made of docstrings.

    Example:

    >>> docstring_data("tagging")
    {'kind': 'docstrings', 'task': 'parameters'}
    """
    tasks = {name: made(DocstringsData()).labels.task for name, made in DOCSTRING_TASKS.items()}
    for name, learned_by in tasks.items():
        if learned_by == kind:
            return {"kind": "docstrings", "task": name}
    kinds = dict.fromkeys(tasks.values())
    raise ValueError(f"{kind!r} needs data; without any there are {', '.join(kinds)}; {suggest(kind, kinds)}")


def task_on_columns(
    kind: str, given: Mapping[str, str | Sequence[str] | None]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a task on one's own columns, as a recipe says it, and the column of each of its texts.

    Args:
        kind: Kind of a task; an unknown one is said as it is, with a text that is called so.
        given: Column by role of a text, or columns of choices; None where there is none. `text` and `pair`
            stand for the first two texts of the task, whatever their roles. One column of choices holds
            lists.

    Example:

    >>> task_on_columns("classification", {"text": "a", "pair": "b"})
    ({'kind': 'classification', 'pair': True}, {'text': 'a', 'pair': 'b'})
    >>> task_on_columns("span", {"text": "q", "pair": "c"})
    ({'kind': 'span'}, {'question': 'q', 'context': 'c'})
    >>> task_on_columns("embedding", {"text": "a", "pair": "b", "negative": "c"})[0]
    {'kind': 'embedding', 'negatives': True}
    >>> task_on_columns("choice", {"text": "a", "pair": None, "choices": ["b", "c"]})
    ({'kind': 'choice'}, {'context': 'a', 'choices': ['b', 'c']})
    """
    found = task_types().get(kind)
    own = dict(zip((TEXT, PAIR), (*(found().roles if found else (TEXT,)), PAIR)))
    texts = {own.get(role, role): _one_or_all(columns) for role, columns in given.items() if columns}
    return {"kind": kind, **(found.of_roles(frozenset(texts)) if found else {})}, texts


def _one_or_all(columns: str | Sequence[str]) -> str | Sequence[str]:
    return columns[0] if len(columns) == 1 else columns


def learns_without_labels(kind: str) -> bool:
    """Returns whether a kind of task learns from texts alone.

    Args:
        kind: Kind of a task, perhaps an unknown one.

    Example:

    >>> learns_without_labels("embedding"), learns_without_labels("tagging")
    (True, False)
    """
    found = task_types().get(kind)
    return found is not None and found().unlabelled is not None
