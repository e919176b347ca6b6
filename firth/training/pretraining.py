"""Training as a plain function, from rows on disk to a trained model."""

import logging
import os
from collections.abc import Sequence

import keras

from firth.models import build_pretraining_model
from firth.objectives import OBJECTIVES
from firth.recipes.recipe import Recipe
from firth.tokenizers import load_tokenizer
from firth.training.checkpoints import Checkpoints, run_key
from firth.training.distribution import build_strategy, distribute, prepare_devices
from firth.training.history import History
from firth.training.input_pipeline import training_batches
from firth.training.loop import run_steps
from firth.training.optimizers import build_optimizer
from firth.training.row_files import read_rows
from firth.training.rows import RowLimits, Rows, RowsError
from firth.training.schedules import build_schedule
from firth.training.step import build_train_step
from firth.training.termination import TrainingTerminated, termination_deferred

_LOG = logging.getLogger(__name__)


def train(
    recipe: Recipe,
    train_files: Sequence[str],
    tokenizer_directory: str,
    model_run_directory: str,
    checkpoint_root: str,
) -> keras.Model:
    """Trains the recipe's model, going on from the newest checkpoint of the same recipe and data.

    Args:
        recipe: All of it but sources and cleaning matters here.
        train_files: Patterns of row files, as SequenceGen writes them.
        tokenizer_directory: The tokenizer that the rows were made with.
        model_run_directory: Gets `history.jsonl` and TensorBoard's files.
        checkpoint_root: Gets the checkpoints, in a directory for each recipe and data, and the rows in a
            form for random access. Only one process at a time may use it.

    Returns:
        The model, after `recipe.training.steps` steps.

    Raises:
        RowsError: for missing, malformed or foreign rows.
        firth.tokenizers.TokenizerMismatchError: if the tokenizer is not what was saved.
        DeviceError: if the devices that the recipe asks for cannot be had.
        NonFiniteLossError: if the loss is infinite or not a number.
        TrainingTerminated: if SIGTERM comes while steps are made; the next call goes on from there.
    """
    prepare_devices(recipe.training)
    tokenizer = load_recipe_tokenizer(recipe, tokenizer_directory)
    rows = open_rows(recipe, train_files, checkpoint_root)
    strategy = build_strategy(recipe.training)
    model, optimizer = _build(recipe, strategy)
    variables = [v.value for v in [*model.variables, *optimizer.variables]]
    key = run_key(recipe, rows.digest, tokenizer.digest)
    checkpoints = Checkpoints(os.path.join(checkpoint_root, key), variables)
    progress = checkpoints.restore()
    history = History(checkpoints.directory, model_run_directory, progress.step)
    batches = _batches(recipe, rows, tokenizer, progress.step)
    step = build_train_step(model, optimizer, recipe.objective.losses, strategy, recipe.seed)
    schedule = build_schedule(recipe.training.optimizer, recipe.training.steps)
    batches = distribute(strategy, batches)
    try:
        with termination_deferred() as termination:
            run_steps(
                step,
                batches,
                recipe.training,
                schedule,
                checkpoints,
                history,
                progress,
                strategy,
                termination,
            )
    except TrainingTerminated as terminated:
        _LOG.warning("%s", terminated)
        raise
    finally:
        history.close()
    return model


def load_recipe_tokenizer(recipe: Recipe, directory: str):
    """Returns the saved tokenizer, verified.

    Raises:
        firth.tokenizers.TokenizerMismatchError: if it is not what was saved.
        RowsError: if it has more pieces than the recipe's model has rows for.
    """
    tokenizer = load_tokenizer(directory)
    pieces, rows = tokenizer.vocabulary_size(), recipe.tokenizer.vocabulary_size
    if pieces > rows:
        raise RowsError(
            f"{directory}: the tokenizer has {pieces} pieces, but tokenizer.vocabulary_size is {rows}"
        )
    return tokenizer


def open_rows(recipe: Recipe, train_files: Sequence[str], checkpoint_root: str) -> Rows:
    """Returns the training rows, read once and kept under `checkpoint_root`."""
    limits = RowLimits(
        raw_length=recipe.objective.raw_length(recipe.sequences),
        special_tokens=recipe.objective.special_tokens,
        max_documents=recipe.sequences.max_documents,
        vocabulary_size=recipe.tokenizer.vocabulary_size,
        max_characters=recipe.tokenizer.max_characters,
    )
    return read_rows(train_files, os.path.join(checkpoint_root, "rows"), limits)


def _build(recipe, strategy):
    with strategy.scope():
        model = build_pretraining_model(recipe, dtype=recipe.training.precision)
        optimizer = build_optimizer(recipe.training.optimizer, recipe.training.steps)
        optimizer.build(model.trainable_variables)
    return model, optimizer


def _batches(recipe, rows, tokenizer, start_step):
    objective = OBJECTIVES[recipe.objective.kind](recipe.objective, recipe.sequences, tokenizer)
    return training_batches(
        rows,
        objective,
        recipe.seed,
        recipe.training.batch_size,
        start_step,
        recipe.training.steps,
        partners=recipe.objective.uses_partner,
    )
