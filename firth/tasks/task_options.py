"""Completes a fine-tuning recipe from its labelled data, and reads the options that describe them."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from firth.constraints.matcher import ConstraintError
from firth.constraints.validity import read_schema
from firth.recipes.base.errors import suggest
from firth.recipes.base.types import suggest_kind
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.tasks.data import DocstringsData
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import task_types
from firth.recipes.tasks.text_to_text import BLEU
from firth.scores import score_of
from firth.scores.bleu import check_tokenizer, fitting_tokenizer
from firth.scores.score_table import SCORES
from firth.tasks.labelled.data import (
    HandedData,
    LabelledData,
    fingerprint,
    published_scores,
    read_labelled_data,
    read_to_train,
)
from firth.tasks.labelled.docstring_records import DOCSTRING_TASKS
from firth.tasks.labelled.mixing import TRAIN
from firth.tasks.readers import FORMATS, format_of
from firth.tasks.readers.formats import has_split
from firth.tasks.readers.records import PAIR, QUESTION, TEXT

# Keys of tasks that a format's labels state.
_STATED = ("positive", "unanswerable")
AdaptingT = TypeVar("AdaptingT", bound=AdaptingRecipe)


def with_labels(recipe: AdaptingT) -> AdaptingT:
    """Returns a recipe with the values that it leaves open filled in from its data.

    Empty `task.labels` become the classes of the data: in the order of a published format, or else the names
    that the training records have, in the task's order. An open `task.mean` becomes that of the labels to
    train on, and open `task.class_shares` those of the classes among them, where the data are read for one of
    these. An open `task.bleu_tokenizer` becomes the one that fits the targets to train on. `task.scores` that
    the recipe does not state become those that are published of the format.

    Raises:
        ValueError: if the training data cannot be read, or do not fit the task; for a score that is unknown,
            or of other answers.
    """
    task, data = recipe.task, recipe.data
    if task.unlabelled is not None:
        read_labelled_data(data, task)
    parts = {part.source: part for part in getattr(data, "parts", ())}
    own = {source: _filled(each, parts[source]) for source, each in task.tasks_by_source.items()}
    task = _filled(task.with_tasks(own) if own else task, data)
    return recipe if task is recipe.task else recipe.model_copy(update={"task": task})


def read_to_hand_down(recipe: AdaptingT) -> tuple[AdaptingT, LabelledData, HandedData]:
    """Returns the results of `read_for`, and the data as they are handed down to the run's component."""
    # Before they are read, so that files that change meanwhile are read anew.
    read_as = fingerprint(recipe.data)
    recipe, found = read_for(recipe)
    return recipe, found, HandedData(read_as, recipe.task.to_json(), found)


def read_for(recipe: AdaptingT) -> tuple[AdaptingT, LabelledData]:
    """Returns a recipe filled in from its data, as `with_labels` does, and the data.

    Raises:
        ValueError: as `with_labels` does, also of the data to evaluate on; for a chat template that asks for
            pieces which the base's tokenizer lacks; for a `task.schema` that its texts cannot be held to.
    """
    check_template(recipe)
    check_schema(recipe)
    if recipe.task.tasks_by_source:
        recipe = with_labels(recipe)
    checked_scores(recipe.task)
    found = read_labelled_data(recipe.data, recipe.task)
    task = _filled(recipe.task, recipe.data, found)
    return recipe if task is recipe.task else recipe.model_copy(update={"task": task}), found


def check_template(recipe: AdaptingRecipe) -> None:
    """Checks that the chat template of a recipe's task, if there is one, fits the base's tokenizer."""
    if recipe.task.template_with(None) is None:
        return
    from firth.tokenizers import load_tokenizer
    from firth.tokenizers.chat import Chat, ChatTemplateError
    from firth.tokenizers.storage import apply_template

    tokenizer = load_tokenizer(os.path.join(recipe.base.bundle, TOKENIZER_FOLDER))
    try:
        Chat(apply_template(tokenizer, recipe.task))
    except ChatTemplateError as error:
        raise ValueError(f"task.template: {error}") from None


def check_schema(recipe: AdaptingRecipe) -> None:
    """Checks that the base's vocabulary can write texts by the schemas of a recipe's task.

    Their least tokens must fit the length of a text that the task writes.
    """
    task: Any = recipe.task
    own = {f"tasks.{source}.": each for source, each in task.tasks_by_source.items()} or {"": task}
    schemas = {f"task.{key}schema": each.text_schema for key, each in own.items()}
    schemas = {key: schema for key, schema in schemas.items() if schema is not None}
    if not schemas:
        return
    from firth.constraints.compiling import schema_automaton
    from firth.constraints.token_bytes import TokenBytes
    from firth.constraints.validity import validator_of
    from firth.tasks import TASKS
    from firth.tokenizers import load_tokenizer

    tokenizer = load_tokenizer(os.path.join(recipe.base.bundle, TOKENIZER_FOLDER))
    rows = np.arange(recipe.tokenizer.vocabulary_size)
    may_write = (rows < tokenizer.vocabulary_size()) & ~np.isin(rows, tokenizer.special_ids)
    end, (most, most_key) = TASKS[task.kind].end_of(task, tokenizer), task.answer_places(recipe.sequences)
    for key, stated in schemas.items():
        try:
            schema = read_schema(stated)
            # The scores of the evaluation read it too.
            validator_of(schema)
            least = schema_automaton(schema, TokenBytes.of(tokenizer, may_write, end)).least_tokens
        except ConstraintError as error:
            raise ValueError(f"{key}: {error}") from None
        if most < least:
            raise ValueError(
                f"{key}: a text that is valid by it has at least {least} tokens, and {most_key} leaves {most}"
            )


def target_sentences(recipe: AdaptingRecipe, found: LabelledData) -> list[str]:
    """Returns sentences on the targets of labelled data that a model cannot learn to write.

    The base's tokenizer is loaded only for a task that writes texts.

    Raises:
        firth.tasks.targets.TargetsError: if more of the targets to train on than `validation.unknown_targets`
            is not in the vocabulary, with counts and examples.
    """
    if not recipe.task.most_written(recipe.sequences)[1]:
        return []
    from firth.tasks.targets import check_targets, count_targets
    from firth.tokenizers import load_tokenizer

    tokenizer = load_tokenizer(os.path.join(recipe.base.bundle, TOKENIZER_FOLDER))
    sentences = []
    for split, each in found.splits.items():
        counts = count_targets(recipe.task, recipe.sequences, tokenizer, each.records)
        if split == TRAIN:
            check_targets(counts, recipe.validation.unknown_targets)
        sentences += counts.sentences(split)
    return sentences


def checked_scores(task: Task) -> None:
    """Checks that each of a task's scores is one of its answers."""
    if own := task.tasks_by_source:
        for each in own.values():
            checked_scores(each)
        return
    for name in task.scores:
        check_options(task, name)
        if score_of(name).inputs.name not in task.scored_as:
            fitting = [each for each, score in SCORES.items() if score.inputs.name in task.scored_as]
            raise ValueError(
                f"task.scores: {name} cannot score the answers of task.kind: {task.kind}; "
                f"{suggest(name, fitting)}"
            )


def check_options(task: Task, name: str) -> None:
    """Checks that the tokenizer of BLEU that a task states can be used on this machine."""
    tokenizer = task.score_options(name).get("tokenize")
    if tokenizer is None:
        return
    try:
        check_tokenizer(tokenizer)
    except ValueError as error:
        raise ValueError(f"task.bleu_tokenizer: {error}") from None


def _filled(task: Any, data: Any, found: LabelledData | None = None) -> Any:
    """Returns a task filled in from its data; the same if it leaves nothing open."""
    filled = dict[str, Any]()
    checked_scores(task)
    of_numbers, of_classes = (getattr(task, name, ()) is None for name in ("mean", "class_shares"))
    names_open = getattr(task, "labels", None) == ()
    if found is None and (names_open or of_numbers):
        found = read_to_train(data, task)
    if found and names_open:
        filled["labels"] = found.labels
    if found and of_numbers:
        filled["mean"] = found.mean_label
    if found and of_classes:
        filled["class_shares"] = found.class_shares
    scores = published_scores(data)
    if scores and task.takes_published_scores and "scores" not in task.model_fields_set:
        filled["scores"] = scores
    asked = filled.get("scores", task.scores)
    if BLEU in asked and getattr(task, "bleu_tokenizer", None) == "":
        found = found or read_to_train(data, task)
        targets = [task.texts_of(record.label) for record in found.splits[TRAIN].records]
        filled["bleu_tokenizer"] = fitting_tokenizer(targets)
    if isinstance(task.text_schema, str):
        # The file may be elsewhere when the model is scored.
        filled["schema"] = _schema_of(task.text_schema)
    if not filled:
        return task
    stated = {name: getattr(task, name) for name in task.model_fields_set}
    return type(task)(**{**stated, **filled})


def _schema_of(path: str) -> Any:
    try:
        return read_schema(path)
    except ConstraintError as error:
        raise ValueError(f"task.schema: {error}") from None


def task_of_format(name: str) -> dict[str, Any]:
    """Returns the task of a published data set, as in a recipe.

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
    stated: dict[str, Any] = {"kind": labels.task}
    fields = kinds[labels.task].model_fields
    stated |= {role: role in described.texts for role in (PAIR, QUESTION) if role in fields}
    return stated | {name: getattr(labels, name) for name in _STATED if getattr(labels, name, None)}


def published_data(name: str, folder: str) -> dict[str, Any]:
    """Returns the data of a published data set, as in a recipe.

    They are scored on `dev`, or else on `test`, or on a part of `train` where that alone is in the folder.

    Raises:
        ValueError: for an unknown name, with the nearest.

    Example:

    >>> published_data("conll2000", "conll")
    {'kind': 'published', 'format': 'conll2000', 'folder': 'conll', 'eval': 'test'}
    """
    described = format_of(name)
    labelled = [split for split in ("dev", "test") if {split} & described.files.keys() - described.unlabelled]
    there = [split for split in ("train", *labelled) if has_split(name, folder, split)]
    split = None if there == ["train"] else next((each for each in labelled if each in there), labelled[0])
    return {"kind": "published", "format": name, "folder": folder, "eval": split}


def docstring_data(kind: str) -> dict[str, Any]:
    """Returns data for those who have none, as in a recipe: records made of docstrings.

    Example:

    >>> docstring_data("tagging")
    {'kind': 'docstrings', 'task': 'parameters'}
    """
    tasks = {name: made(DocstringsData()).labels.task for name, made in DOCSTRING_TASKS.items()}
    for name, learned_by in tasks.items():
        if learned_by == kind:
            return {"kind": "docstrings", "task": name}
    kinds = dict.fromkeys(tasks.values())
    types = [task_types()[each] for each in kinds]
    without = f"without any there are {', '.join(kinds)}"
    raise ValueError(f"--task: {kind!r} needs data; {without}; {suggest_kind(kind, types)}")


def task_on_columns(
    kind: str, given: Mapping[str, str | Sequence[str] | None]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a task on one's own columns, as in a recipe, and the column of each of its texts.

    Args:
        given: Column by role of a text, or columns of choices; None if it was not given. `text` and `pair`
            stand for the first two texts of the task, whatever their roles. One column of choices holds
            lists. A text that the task always has is in a column of its role's name if none is given.

    Example:

    >>> task_on_columns("classification", {"text": "a", "pair": "b"})
    ({'kind': 'classification', 'pair': True}, {'text': 'a', 'pair': 'b'})
    >>> task_on_columns("span", {"text": "q"})
    ({'kind': 'span'}, {'question': 'q', 'context': 'context'})
    >>> task_on_columns("embedding", {"text": "a", "pair": "b", "negative": "c"})[0]
    {'kind': 'embedding', 'negatives': True}
    >>> task_on_columns("choice", {"text": "a", "pair": None, "choices": ["b", "c"]})
    ({'kind': 'choice'}, {'context': 'a', 'choices': ['b', 'c']})
    """
    found = task_types().get(kind)
    always = found().roles if found else (TEXT,)
    own = dict(zip((TEXT, PAIR), (*always, PAIR)))
    stated = {own.get(role, role): _one_or_all(columns) for role, columns in given.items() if columns}
    texts = {**dict(zip(always, always)), **stated}
    return {"kind": kind, **(found.values_for_roles(frozenset(texts)) if found else {})}, texts


def _one_or_all(columns: str | Sequence[str]) -> str | Sequence[str]:
    return columns[0] if len(columns) == 1 else columns


def label_column(kind: str) -> str | None:
    """Returns the column of labels where none is named; None for a kind of task that learns from texts alone.

    Example:

    >>> label_column("embedding"), label_column("tagging"), label_column("regression")
    (None, 'tags', 'label')
    """
    found = task_types().get(kind, Task)
    return None if found is not Task and found().unlabelled is not None else found.label_column


def check_data_options(task: str, data: str | None, train: str | None, others: Sequence[str]) -> None:
    """Checks that the options of a task and those of its data belong together.

    Example:

    >>> check_data_options("sst2", None, None, ())
    Traceback (most recent call last):
    ...
    ValueError: --task: sst2 is a published data set; name its folder with --data
    """
    described = task_types().get(task)
    fields = described.model_fields if described else {}
    if unsaid := [f"task.{key}" for key, field in fields.items() if field.is_required()]:
        raise ValueError(
            f"--task: {task} needs {', '.join(unsaid)}, which no option says; write "
            "base, data and task in a recipe, and give that with --recipe"
        )
    if data is not None and train is not None:
        raise ValueError("--data and --train: give one of them, a published data set or a file of your own")
    if others and train is None:
        raise ValueError(f"{others[0]}: it is of a file of your own; name that with --train")
    if data is None and task in FORMATS:
        kinds = f"; a file of your own is for a kind of task: {', '.join(task_types())}" if train else ""
        raise ValueError(f"--task: {task} is a published data set; name its folder with --data{kinds}")
    if data is not None and task in task_types():
        raise ValueError(
            f"--task: {task} is a kind of task, for a file of your own with --train; --data is the folder of "
            "a published data set, such as sst2"
        )
