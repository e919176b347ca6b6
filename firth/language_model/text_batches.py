"""Texts and records as batches of features, each epoch in another order."""

import contextlib
import math
import os
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from firth import storage
from firth.language_model.rows import (
    RowFiles,
    naming_arguments,
    pack_documents,
    pack_records,
    warn_of_rejected,
    write_scratch,
)
from firth.language_model.texts import LABEL, check_labels, list_records, list_rows, list_texts
from firth.objectives import OBJECTIVES
from firth.recipes.tasks.data import ColumnData
from firth.tasks import TASKS
from firth.tasks.labelled.data import read_to_train
from firth.tasks.task_options import label_column
from firth.training.input_pipeline import training_batches
from firth.training.pretraining import open_rows

if TYPE_CHECKING:
    from firth.language_model.model import LanguageModel


class Batches(NamedTuple):
    """Batches of features.

    Attributes:
        data: Batches, of several epochs.
        steps: Number of batches of an epoch.
    """

    data: tf.data.Dataset
    steps: int


def batches_of(model: "LanguageModel", x: Any, y: Any, batch_size: int, epochs: int) -> Batches:
    """Returns batches of features of texts or records, of which each epoch has all in another order.

    Raises:
        ValueError: if the model has no preprocessor, there is no record, or a column is missing.
    """
    tokenizer, recipe = model.tokenizer, model.recipe
    if recipe.trains_on_corpus and y is not None:
        raise ValueError(
            f"y: a model of {recipe.goal.kind} learns from texts alone; finetune(zip(texts, labels)) makes "
            "one of a task"
        )
    # The rows are read from a folder for as long as the batches live.
    kept = contextlib.ExitStack()
    folder = kept.enter_context(storage.scratch_folder())
    files = (
        pack_documents(recipe, list_texts(x, name="x"), tokenizer, folder)
        if recipe.trains_on_corpus
        else _pack_records(model, x, y, folder)
    )
    rows = open_rows(recipe, files.train, os.path.join(folder, "kept"))
    batch = min(batch_size, len(rows))
    steps = math.ceil(len(rows) / batch)
    goal = recipe.goal
    data = training_batches(
        rows,
        {**OBJECTIVES, **TASKS}[goal.kind](goal, recipe.sequences, tokenizer),
        recipe.seed,
        batch,
        0,
        steps * epochs,
        negatives=goal.uses_negative,
        epochs_drawn=goal.epochs_drawn,
    )

    def features_of(_: tf.Tensor, made: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        return made

    made = data.map(features_of)
    weakref.finalize(made, kept.close)
    return Batches(made, steps)


def _pack_records(model: "LanguageModel", x: Any, y: Any, folder: str) -> RowFiles:
    task: Any = model.recipe.goal
    if y is not None:
        texts = list_texts(x, name="x")
        check_labels(y, texts)
        x = list(zip(texts, y))
    path = os.path.join(folder, "x.jsonl")
    rows = list_rows(x, "x")
    columns, label = _columns_of(model, rows[0])
    records = list_records(rows, _names(columns, label), "x")
    write_scratch(path, records)
    data = ColumnData.of({"train": path, "eval": path, "texts": columns, "label": label})
    with naming_arguments({"x": path}):
        found = read_to_train(data, task, learnable=False)
    warn_of_rejected(found, {"x": path}, stacklevel=5)
    return pack_records(task, model.recipe.sequences, found, model.tokenizer, folder)


def _columns_of(model: "LanguageModel", row: Any) -> tuple[dict[str, Any], str | None]:
    """Returns the columns of the texts by role, and that of the label, of records such as a row.

    They are those that the model was trained on where the row has them, or else those of the usual names.
    """
    task: Any = model.recipe.goal
    usual = {role: role for role in task.roles}
    labels = [None] if task.unlabelled is not None else [label_column(task.kind), LABEL]
    found: list[tuple[dict[str, Any], str | None]] = [(usual, label) for label in labels]
    trained_on: Any = getattr(model.recipe, "data", None)
    # Published data sets are files, which have no columns.
    if hasattr(trained_on, "texts"):
        found.insert(0, (dict(trained_on.texts), trained_on.label))
    fitting = (each for each in found if isinstance(row, Mapping) and set(_names(*each)) <= row.keys())
    return next(fitting, (usual, labels[0]))


def _names(columns: Mapping[str, Any], label: str | None) -> list[str]:
    texts = [name for each in columns.values() for name in ([each] if isinstance(each, str) else each)]
    return [*texts, *([] if label is None else [label])]
