"""The start of a run: the weights of its base, or the step that it resumes at."""

import dataclasses
import logging
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from firth import storage
from firth.models.bundle import BundleError, open_weights, read_recipe, weights_by_path
from firth.models.bundle_weights import NOTHING_ADDED, AddedPieces, start_from
from firth.recipes.base.errors import first_of
from firth.recipes.reading.bundles import NoBundleError, check_digest, checkpoints_of
from firth.recipes.run.base import TOKENIZER_FOLDER, Base
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import stages_of
from firth.tokenizers import load_tokenizer
from firth.training.checkpoints import Progress, SavedState, newest_state
from firth.training.optimizers.schedules import build_schedule

START_FILE = "start.json"
_LOG = logging.getLogger(__name__)
# The progress display shows these messages.
_PROGRESS = logging.getLogger("firth.progress")
_OPTIMIZER = "optimizer/"


def assign_base(
    model: keras.Model, state: Mapping[str, tf.Variable], base: Base, tokenizer: Any, kept: str
) -> None:
    """Assigns the base's weights to a model, and writes a record of them.

    The optimizer's state is fresh, unless the recipe takes that of the base.

    Args:
        kept: Folder of the run's checkpoints, for `start.json`: `bundle`, `digest`, the layers that are made
            fresh, the optimizer, `taken` or `fresh`, the number of `trained_parameters`, and the
            paths of weights that are `fresh` and `unused`; see `UnmatchedWeights`.
    """
    try:
        check_digest(base.bundle, base.digest)
    except NoBundleError as error:
        raise BundleError(str(error)) from None
    start = start_from(model, base.bundle, _added(base, tokenizer))
    check_frozen(model, start.fresh, base.bundle)
    if base.take_optimizer:
        take_optimizer(state, base.bundle)
    record = {
        "bundle": base.bundle,
        "digest": base.digest,
        "optimizer": "taken" if base.take_optimizer else "fresh",
        "fresh_layers": layers_of(start.fresh),
        "trained_parameters": sum(math.prod(weight.shape) for weight in model.trainable_weights),
        **dataclasses.asdict(start),
    }
    storage.write_json(os.path.join(kept, START_FILE), record, indent=1)
    fresh = ", ".join(record["fresh_layers"]) or "nothing"
    _LOG.info("started from %s; made fresh: %s; the optimizer is %s", base.bundle, fresh, record["optimizer"])


def take_optimizer(state: Mapping[str, tf.Variable], bundle: str) -> tuple[str, ...]:
    """Sets an optimizer's variables to those of the checkpoint that a bundle was made of.

    Raises:
        BundleError: if no checkpoint of the run has the bundle's weights.
    """
    saved = _state_of(bundle)
    variables = {name: each for name, each in state.items() if name.startswith(_OPTIMIZER)}
    fitting = {name for name, each in variables.items() if saved.shapes.get(name) == tuple(each.shape)}
    for name in fitting:
        # The checkpoint may have another dtype.
        variables[name].assign(tf.cast(saved[name], variables[name].dtype))
    return tuple(name for name in variables if name not in fitting)


def copy_start_record(kept: str, run_directory: str) -> None:
    """Copies the record of a run's start next to its curve."""
    storage.copy_file(os.path.join(kept, START_FILE), os.path.join(run_directory, START_FILE))


def report_resume(recipe: RunRecipe, progress: Progress) -> None:
    """Logs the step that a run resumes at, and the changes of the schedule with another number of steps."""
    planned, steps = progress.planned_steps, recipe.training.steps
    if not 0 < progress.step < steps:
        return
    text = f"the run resumes at step {progress.step:,}"
    text += _changes_text(recipe, progress) if planned not in (0, steps) else f" of {steps:,}"
    _PROGRESS.warning("%s", text, extra={"firth": {"kind": "notice", "text": text}})


def layers_of(paths: Iterable[str]) -> list[str]:
    """Returns the layers of a model that some weights belong to, each once.

    Example:

    >>> layers_of(["heads/pooler/dense/kernel", "heads/pooler/dense/bias", "heads/pair_head/kernel"])
    ['heads/pooler', 'heads/pair_head']
    """
    return list(dict.fromkeys("/".join(path.split("/")[:2]) for path in paths))


def check_frozen(model: keras.Model, fresh: Iterable[str], bundle: str) -> None:
    """Raises a BundleError for a part of the heads that is random and not trained by the method."""
    of_base = {id(each) for each in model.heads.of_base if not each.trainable}
    paths = {path for path, each in weights_by_path(model).items() if id(each) in of_base}
    if lacking := sorted(paths.intersection(fresh)):
        raise BundleError(
            f"{bundle} has no trained {first_of(lacking)}, which the run's method leaves as it is; "
            "method.kind: full and head train it"
        )


def _added(base: Base, tokenizer: Any) -> AddedPieces:
    before = load_tokenizer(os.path.join(base.bundle, TOKENIZER_FOLDER))
    if not base.added:
        if before.digest_of_ids != tokenizer.digest_of_ids:
            raise BundleError(f"{base.bundle} has another tokenizer than the rows of this run were made with")
        return NOTHING_ADDED
    after = before.vocabulary_size()
    words = tokenizer.get_vocabulary()[after:]
    rows = read_recipe(base.bundle).tokenizer.vocabulary_size
    return AddedPieces(after, before.tokenize(words).to_list() if words else [], rows)


def _state_of(bundle: str) -> SavedState:
    """Returns the newest checkpoint of the bundle's run that has its weights."""
    folder = checkpoints_of(bundle)
    for key in storage.list_folder(folder) if folder else ():
        found = newest_state(os.path.join(folder or "", key))
        if found is not None and _has_weights(found, bundle):
            return found
    raise BundleError(
        f"{bundle}: no checkpoint of its run has its weights, so there is no state of its optimizer to take; "
        "leave base.take_optimizer out"
    )


def _has_weights(saved: SavedState, bundle: str) -> bool:
    with open_weights(bundle) as file:
        names = {f"model/{name}": name for name in file}
        return names.keys() <= saved.keys() and all(
            np.array_equal(saved[name], file[of_file]) for name, of_file in names.items()
        )


def _changes_text(recipe: RunRecipe, progress: Progress) -> str:
    planned, steps = progress.planned_steps, recipe.training.steps
    first = recipe.base.updates if recipe.base else 0
    before, now = (
        float(build_schedule(recipe.training.optimizer, total, first)(first + progress.step))
        for total in (planned, steps)
    )
    return (
        f" with training.steps: {steps:,} instead of {planned:,}; the rate of its next update is "
        f"{now:.3g}, where it would have been {before:.3g}"
        f"{_scheduled_text(recipe, progress)}{_stage_text(recipe, progress.step)}"
    )


def _scheduled_text(recipe: RunRecipe, progress: Progress) -> str:
    before, now = (
        recipe.goal.scheduled(progress.step / total)
        for total in (progress.planned_steps, recipe.training.steps)
    )
    return "".join(
        f", and {name} continues from {value:.3g}, where it would from {before[name]:.3g}"
        for name, value in now.items()
    )


def _stage_text(recipe: RunRecipe, step: int) -> str:
    if not recipe.training.earlier_stages:
        return ""
    (length, end) = next(
        (stage.recipe.sequences.length, stage.end) for stage in stages_of(recipe) if step < stage.end
    )
    return f", and up to step {end:,} its rows have {length:,} tokens"
