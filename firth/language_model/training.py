"""Training of a recipe on rows, in this process, to a language model."""

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

import keras

from firth.language_model.model import LanguageModel
from firth.language_model.rows import RowFiles
from firth.recipes.run.run_recipe import RunRecipe
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
