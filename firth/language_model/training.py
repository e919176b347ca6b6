"""Training in this process, of a recipe on rows, and fine-tuning; see `LanguageModel.finetune`."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from firth import storage
from firth.language_model.answers import TextAnswers
from firth.language_model.model import LanguageModel
from firth.language_model.opening import recipe_options, write_bundle_of
from firth.language_model.rows import (
    RowFiles,
    naming_arguments,
    task_rows,
    warn_of_rejected,
    work_folder,
    write_scratch,
)
from firth.language_model.texts import is_path, list_records
from firth.models.bundle import open_weights, weights_by_path
from firth.recipes.base.types import kind_named, suggest_kind
from firth.recipes.objectives.objective import objective_types
from firth.recipes.reading.adapting import load_adapting_with_places
from firth.recipes.reading.raw_recipes import Option
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.tasks import task_types
from firth.tasks.task_options import label_column, read_for, target_sentences, task_on_columns
from firth.tokenizers import load_tokenizer
from firth.training.history import read_history
from firth.training.pretraining import train
from firth.training.run_fn import finished, with_steps
from firth.training.termination import TrainingInterrupted

_LOGGER = "firth.progress"


def train_in_process(
    recipe: RunRecipe, files: RowFiles, folder: str, verbose: bool, merge: bool = True
) -> LanguageModel:
    """Trains a recipe's model, and returns it with its tokenizer.

    Args:
        recipe: Recipe of the run.
        files: Rows.
        folder: Folder of the checkpoints and of the curve.
        verbose: True to show a progress bar.
        merge: True to make what a method added a part of the weights.
    """
    checkpoints = os.path.join(folder, "checkpoints")
    recipe = with_steps(recipe, files.train, checkpoints)
    run = os.path.join(folder, "run")
    with progress_bar(verbose):
        try:
            network = train(recipe, files.train, files.tokenizer, run, checkpoints, files.eval)
        except TrainingInterrupted as stopped:
            if stopped.model is None:
                raise KeyboardInterrupt from None
            warnings.warn(
                f"interrupted after step {stopped.step:,} of {recipe.training.steps:,}: the model has the "
                "weights of that step",
                stacklevel=3,
            )
            network = stopped.model
    tokenizer = load_tokenizer(files.tokenizer)
    recipe = finished(network, tokenizer, recipe, files.eval, merges=merge)
    model = LanguageModel(recipe, tokenizer, network)
    model.history = _history(run)
    return model


def _history(folder: str) -> keras.callbacks.History:
    """Returns the curve of a run as Keras's `fit` does; `epoch` has the steps."""
    lines = read_history(folder)
    history = keras.callbacks.History()
    history.epoch = [line["step"] for line in lines]
    names = dict.fromkeys(name for line in lines for name, value in line.items() if isinstance(value, float))
    history.history = {name: [line.get(name) for line in lines] for name in names}
    return history


@contextlib.contextmanager
def progress_bar(show: bool = True) -> Iterator[None]:
    """Shows the steps of a training with loss and speed while the block runs.

    Args:
        show: False to show warnings alone.
    """
    logger = logging.getLogger(_LOGGER)
    level, propagates = logger.level, logger.propagate
    if not show:
        # A pipeline that ran in this process has switched the messages on.
        logger.setLevel(logging.WARNING)
        try:
            yield
        finally:
            logger.setLevel(level)
        return
    from rich import progress

    columns = (
        progress.TextColumn("training"),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns) as bar:
        handler = _Bar(bar)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagates


class _Bar(logging.Handler):
    """Draws events of the training; see `firth.training.loop`."""

    def __init__(self, bar: Any) -> None:
        super().__init__()
        self._bar = bar
        self._task: Any = None

    def emit(self, record: logging.LogRecord) -> None:
        """Draws one event."""
        event = getattr(record, "firth", {})
        if event.get("kind") == "notice":
            self._bar.console.print(event["text"])
        if event.get("kind") != "training":
            return
        text = f"loss {event['loss']:.3f}"
        if event.get("tokens_per_second"):
            text += f", {event['tokens_per_second']:,.0f} tokens/s"
        if self._task is None:
            self._task = self._bar.add_task(text, total=event["steps"])
        self._bar.update(self._task, completed=event["step"], description=text)


class TaskRecords(NamedTuple):
    """Labelled records and their task.

    Attributes:
        train: Records to train on.
        eval: Records to evaluate on; None to hold some out.
        task: Kind of the task.
        texts: Column of each text by its role; None where none is given.
        label: Column of the label; None for the usual one.
    """

    train: Any
    eval: Any
    task: str
    texts: Mapping[str, Any]
    label: str | None


def finetune(
    model: Any,
    records: TaskRecords,
    values: Mapping[str, Any],
    overrides: Mapping[str, Any] | Sequence[str],
    folder: str | os.PathLike[str] | None,
    merge: bool,
    verbose: bool,
) -> LanguageModel:
    """Returns a model that is trained for a task on labelled records."""
    _check_task(records.task)
    described, columns = task_on_columns(records.task, records.texts)
    label = records.label or label_column(records.task)
    with work_folder(folder) as place:
        needed = dict.fromkeys(_flat(columns.values()), "")
        # The first two texts have arguments of these names, whatever their roles.
        needed |= dict(zip(needed, ("text", "pair")))
        if label is not None:
            needed[label] = "label"
        data = {
            "kind": "columns",
            "train": _file_of(records.train, needed, place, "train"),
            "eval": None if records.eval is None else _file_of(records.eval, needed, place, "eval"),
            "texts": columns,
            "label": label,
        }
        options = [
            Option("base", bundle_of(model, place), "model"),
            Option("data", data, "train"),
            Option("task", described, "task"),
            *(Option(key, value, key) for key, value in values.items() if value is not None),
            *recipe_options(overrides),
        ]
        stated, _ = load_adapting_with_places(None, options)
        scratch = {name: _written(place, name) for name in ("train", "eval")}
        scratch = {name: path for name, path in scratch.items() if data[name] == path}
        with naming_arguments(scratch):
            recipe, found = read_for(stated)
            # Targets that the tokenizer cannot write are refused as by the command.
            target_sentences(recipe, found)
        warn_of_rejected(found, scratch, stacklevel=4)
        return train_in_process(recipe, task_rows(recipe, found, place), place, verbose, merge)


def _check_task(kind: str) -> None:
    if kind in task_types():
        return
    if kind in objective_types() or kind_named(kind, objective_types().values()):
        raise ValueError(
            f"task: {kind!r} is learned from texts without labels: firth.pretrain(base=model, texts=...) "
            "does that"
        )
    raise ValueError(f"task: unknown kind {kind!r}; {suggest_kind(kind, task_types().values())}")


def _written(folder: str, name: str) -> str:
    """Returns the path of the file of an argument's records."""
    return os.path.join(folder, f"{name}.jsonl")


def bundle_of(model: TextAnswers, folder: str) -> str:
    """Returns a bundle with a model's weights: the one that it was opened from, if they are the same."""
    source = getattr(model, "source", None)
    if source is not None and _holds(model, source):
        return str(source)
    path = os.path.join(folder, "base")
    storage.remove(path)
    write_bundle_of(model, path)
    return path


def _holds(model: TextAnswers, bundle: str) -> bool:
    weights = weights_by_path(model.network)
    with open_weights(bundle) as file:
        return set(file) == set(weights) and all(
            np.array_equal(file[name], np.asarray(each.value)) for name, each in weights.items()
        )


def _flat(columns: Iterable[str | Sequence[str]]) -> list[str]:
    return [name for each in columns for name in ([each] if isinstance(each, str) else each)]


def _file_of(data: Any, columns: Mapping[str, str], folder: str, name: str) -> str:
    """Returns the path of a file of records, which is written if it is not given."""
    if is_path(data):
        given = os.fspath(data)
        return os.path.abspath(given) if storage.is_local(given) else given
    path = _written(folder, name)
    write_scratch(path, list_records(data, columns, name))
    return path
