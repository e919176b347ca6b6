"""Training as a plain function, from rows on disk to a trained model."""

import contextlib
import functools
import hashlib
import logging
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from firth.models import build_model
from firth.objectives import OBJECTIVES
from firth.recipes.counting import training_flops_per_step
from firth.recipes.reading.method_sources import check_source
from firth.recipes.run.base import Base
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import RunStage, rows_folder, stages_of
from firth.tasks import TASKS
from firth.tokenizers import load_tokenizer
from firth.training.backends import TENSORFLOW, BackendParts, check_backend
from firth.training.checkpoints import Checkpoints, Progress, run_folder, run_key, state_by_name
from firth.training.history import History
from firth.training.input_pipeline import stage_seed, training_batches
from firth.training.jax_process import train_on_jax
from firth.training.loop import Loop
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.row_files import read_rows, read_rows_together
from firth.training.rows import RowLimits, Rows, RowsError
from firth.training.run_start import assign_base, copy_start_record, report_resume
from firth.training.strategies import build_strategy
from firth.training.termination import TrainingTerminated, termination_deferred
from firth.training.workers import BatchShare, Workers, distribute, lost_workers_reported
from firth.tuning import METHODS

_LOG = logging.getLogger(__name__)


def train(
    recipe: RunRecipe,
    train_files: Sequence[str],
    tokenizer_directory: str,
    model_run_directory: str,
    checkpoint_root: str,
    eval_files: Sequence[str] = (),
    parts: BackendParts = TENSORFLOW,
) -> keras.Model:
    """Trains the recipe's model from the newest checkpoint of the same recipe and data.

    Without a checkpoint it starts from the recipe's base, or from weights drawn by the seed.

    Args:
        recipe: RunRecipe of the run; its sources and its cleaning do not matter here.
        train_files: Patterns of row files, as SequenceGen writes them.
        tokenizer_directory: Folder of the tokenizer that the rows were made with.
        model_run_directory: Folder for `history.jsonl` and TensorBoard's files.
        checkpoint_root: Folder for the checkpoints, in a folder for each recipe and data, and for the rows in
            a form for random access. Only one training at a time may use it; all its processes see the same.
        eval_files: Patterns of row files for the held-out losses of `eval_every_steps`; without any, no such
            loss is measured.
        parts: Parts of the backend that Keras has in this process. Steps on another backend are made in a
            process of its own.

    Returns:
        The model, after `recipe.training.steps` steps.

    Raises:
        RowsError: for missing, malformed or foreign rows.
        firth.tokenizers.TokenizerMismatchError: if the tokenizer is not the one that was saved.
        firth.models.BundleError: if the recipe's base cannot be read, or is not the one it was read with.
        firth.recipes.reading.method_sources.MethodSourceError: if the recipe's method cannot start from its
            source.
        firth.tuning.TuningError: if the recipe's method cannot prepare the model.
        DeviceError: if the devices that the recipe asks for are not available, or JAX is not installed.
        JaxTrainingError: if the recipe trains on JAX, and its process has ended with an error.
        ClusterError: if TF_CONFIG cannot be read, or the processes that it lists train different things.
        WorkerLostError: if another process of the training has ended; all have to be started again.
        NonFiniteLossError: if the loss is infinite or not a number.
        TrainingTerminated: if SIGTERM or Ctrl-C comes while steps are made, or the last of them are measured
            and saved; the next call resumes there. For Ctrl-C it is a KeyboardInterrupt too.
    """
    places = {
        "train_files": list(train_files),
        "tokenizer_directory": tokenizer_directory,
        "model_run_directory": model_run_directory,
        "checkpoint_root": checkpoint_root,
        "eval_files": list(eval_files),
    }
    check_backend(parts)
    parts.prepare(recipe)
    strategy = build_strategy(recipe.training)
    workers = Workers(strategy)
    tokenizer = load_recipe_tokenizer(recipe, tokenizer_directory)
    stages = stages_of(recipe)
    own_root = workers.folder(checkpoint_root)
    with lost_workers_reported(workers):
        rows = [
            open_stage_rows(recipe, stage.recipe, train_files, checkpoint_root, workers) for stage in stages
        ]
        key = run_key(recipe, "+".join(each.digest for each in rows), tokenizer.digest)
        workers.check_same("recipe, rows or tokenizer", _number_of(key, recipe))
        model, optimizer = _build(recipe, strategy, math.ceil(len(rows[-1]) / recipe.training.batch_size))
        folder = run_folder(checkpoint_root, key, recipe.training.steps)
        checkpoints = parts.checkpoints(folder, model, optimizer, workers.is_chief)
        progress = checkpoints.restore()
        workers.check_same("the checkpoint to resume from, so that they see different folders", progress.step)
        # Only those of the chief are read.
        kept = os.path.join(own_root, os.path.basename(folder))
        run_directory = model_run_directory if workers.is_chief else os.path.join(kept, "run")
        if recipe.base is not None and parts.begins:
            if progress.step == 0:
                _begin(recipe, recipe.base, model, optimizer, tokenizer, kept)
            if workers.is_chief:
                copy_start_record(kept, run_directory)
        if recipe.training.backend != parts.name:
            progress = _in_own_process(checkpoints, progress, recipe, places)
        report_resume(recipe, progress)
        history = History(kept, run_directory, progress.step)
        with _closed_at_end(history, checkpoints, model):
            with termination_deferred() as termination:
                loop = Loop(
                    parts.block(recipe, model, optimizer, strategy),
                    recipe.training,
                    checkpoints,
                    history,
                    termination,
                    parts.held_out(model, tokenizer, recipe, eval_files if workers.is_chief else ()),
                    workers,
                )
                loop.complete(progress)
                progress = _run_stages(loop, strategy, stages, rows, tokenizer, progress)
                # A process that ends is taken for lost by those that still measure or write.
                checkpoints.wait()
                (stops,) = workers.total([float(termination.is_set())])
            # The request may have come after the loop has looked for the last time.
            if stops:
                raise termination.stopped(
                    progress.step, recipe.training.steps, checkpoints.folder_of(progress)
                )
    return model


@contextlib.contextmanager
def _closed_at_end(history: History, checkpoints: Checkpoints, model: keras.Model) -> Iterator[None]:
    """Closes the curve and the checkpoints at the end, also after an error.

    The error of a request to end holds the model.
    """
    try:
        yield
    except TrainingTerminated as terminated:
        terminated.model = model
        _LOG.warning("%s", terminated)
        raise
    finally:
        history.close()
        checkpoints.wait()


def _begin(
    recipe: RunRecipe,
    base: Base,
    model: keras.Model,
    optimizer: keras.optimizers.Optimizer,
    tokenizer: Any,
    kept: str,
) -> None:
    """Sets the weights of a run with a base before its first step."""
    check_source(recipe.trained_by, base.digest)
    assign_base(model, state_by_name(model, optimizer), base, tokenizer, kept)
    for addition in model.added.held:
        addition.begin(model, tokenizer, recipe.trained_by)


def _number_of(key: str, recipe: RunRecipe) -> int:
    """Returns a hash of the values that all processes must share, steps and borders of blocks included."""
    text = key + recipe.training.model_dump_json()
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def _in_own_process(
    checkpoints: Checkpoints, progress: Progress, recipe: RunRecipe, places: Mapping[str, Any]
) -> Progress:
    """Makes the steps that are left on JAX, and returns the progress after them.

    That process reads its weights from a checkpoint, also the initial ones.
    """
    if progress.step >= recipe.training.steps:
        return progress
    if progress.step == 0:
        checkpoints.save(progress)
    stopped = train_on_jax(recipe, **places)
    progress = checkpoints.restore()
    if stopped is not None:
        raise stopped(progress.step, recipe.training.steps, checkpoints.folder_of(progress))
    return progress


def _run_stages(
    loop: Loop,
    strategy: tf.distribute.Strategy,
    stages: Sequence[RunStage],
    rows: Sequence[Rows],
    tokenizer: Any,
    progress: Progress,
) -> Progress:
    for number, (stage, of_stage) in enumerate(zip(stages, rows, strict=True)):
        if progress.step < stage.end:
            made = functools.partial(
                _batches, number, stage, stages[-1].end, of_stage, tokenizer, progress.step
            )
            batches = distribute(strategy, made)
            progress = loop.run(batches, progress, stage.end, functools.partial(_left, stages[number:]))
    return progress


def _left(stages: Sequence[RunStage], step: int) -> float:
    """Returns the rest of the run after `step` in steps of the first stage, by their FLOPs."""
    if len(stages) == 1:
        return stages[0].end - step
    first = training_flops_per_step(stages[0].recipe)
    later = ((end - start) * training_flops_per_step(recipe) for start, end, recipe in stages[1:])
    return stages[0].end - step + sum(later) / first


def load_recipe_tokenizer(recipe: RunRecipe, directory: str) -> Any:
    """Returns the saved tokenizer, verified.

    Raises:
        firth.tokenizers.TokenizerMismatchError: if it is not the one that was saved.
    """
    tokenizer = load_tokenizer(directory)
    pieces, rows = tokenizer.vocabulary_size(), recipe.tokenizer.vocabulary_size
    if pieces > rows:
        raise RowsError(
            f"{directory}: the tokenizer has {pieces} pieces, but tokenizer.vocabulary_size is {rows}"
        )
    return tokenizer


def open_rows(
    recipe: RunRecipe, train_files: Sequence[str], checkpoint_root: str, workers: Workers | None = None
) -> Rows:
    """Returns the training rows of the last stage, read once and kept under `checkpoint_root`."""
    return open_stage_rows(recipe, recipe, train_files, checkpoint_root, workers)


def open_stage_rows(
    recipe: RunRecipe,
    stage: RunRecipe,
    train_files: Sequence[str],
    checkpoint_root: str,
    workers: Workers | None = None,
) -> Rows:
    """Returns the training rows of a stage, read once and kept under `checkpoint_root`."""
    limits = RowLimits.of(
        stage.goal, stage.sequences, stage.tokenizer.vocabulary_size, stage.tokenizer.max_characters
    )
    name, patterns = "rows", list(train_files)
    if stage.sequences.length != recipe.sequences.length:
        name = rows_folder(stage.sequences.length)
        patterns = [_in_folder(pattern, name) for pattern in train_files]
    folder = os.path.join(checkpoint_root, name)
    if workers is None:
        return read_rows(patterns, folder, limits)
    return read_rows_together(patterns, folder, limits, workers)


def _in_folder(pattern: str, folder: str) -> str:
    """Returns `<artifact>/<folder>/Split-train/*` for `<artifact>/Split-train/*`."""
    split, files = os.path.split(pattern)
    artifact, split = os.path.split(split)
    return os.path.join(artifact, folder, split, files)


def _build(
    recipe: RunRecipe, strategy: tf.distribute.Strategy, steps_per_epoch: int
) -> tuple[keras.Model, keras.optimizers.Optimizer]:
    with strategy.scope():
        model = build_model(recipe, dtype=recipe.training.precision)
        method, training = recipe.trained_by, recipe.training
        multipliers = METHODS[method.kind](model, method, steps_per_epoch)
        for observer in model.added.observers:
            observer.plan(training.steps)
        first = recipe.base.updates if recipe.base else 0
        optimizer = build_optimizer(training.optimizer, training.steps, first, multipliers, model)
        optimizer.build(model.trainable_variables)
    return model, optimizer


def _batches(
    number: int, stage: RunStage, total: int, rows: Rows, tokenizer: Any, step: int, share: BatchShare
) -> tf.data.Dataset:
    """Returns a share of the batches from `step` of the run, of `total` steps, to the end of the stage."""
    recipe = stage.recipe
    return training_batches(
        rows,
        {**OBJECTIVES, **TASKS}[recipe.goal.kind](recipe.goal, recipe.sequences, tokenizer),
        stage_seed(recipe.seed, number),
        recipe.training.batch_size,
        step - stage.start,
        stage.end - stage.start,
        negatives=recipe.goal.uses_negative,
        epochs_drawn=recipe.goal.epochs_drawn,
        run=(stage.start, total),
        share=share,
    )
