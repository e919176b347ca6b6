"""The entry point of the standard TFX Trainer."""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import keras

from firth import storage
from firth.corpus.decontamination.evidence import (
    FOLDER,
    CorpusEvidence,
    evidence_files,
    list_found_ngrams,
    read_evidence,
)
from firth.features import is_over_vocabulary
from firth.models import save_model
from firth.models.additions.addition_kinds import replace_training_additions
from firth.models.bundle import read_recipe
from firth.recipes.reading.bases import check_same_model
from firth.recipes.reading.bundles import blessed_bundle, digest_of_bundle
from firth.recipes.run.kinds import run_recipe_from_json
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.search import with_values
from firth.storage import ADAPTER_FOLDER, BUNDLE_FOLDER
from firth.training.held_out import first_rows
from firth.training.pretraining import load_recipe_tokenizer, open_rows, train
from firth.training.rows import count_documents, count_pieces
from firth.training.strategies import prepare_devices, workers_of
from firth.training.workers import Workers, lost_workers_reported
from firth.tuning import merge, save_adapter

_KEYS = ("recipe", "checkpoint_root")
_LOG = logging.getLogger(__name__)


def run_fn(fn_args: Any) -> None:
    """Trains a model and exports it for serving.

    The Trainer takes its name, `firth.training.run_fn.run_fn`. It writes `bundle`, which
    `firth.models.load_model` reads, next to the SavedModel. If the recipe's method adds something to the
    model, it also writes `adapter`, which `firth.tuning.load_adapter` reads, and makes it a part of the
    weights of the bundle and of the SavedModel, where the method merges.

    In each process of a training on several workers it returns when the chief has written the model.

    Args:
        fn_args: `tfx.v1.components.FnArgs`. Used are `train_files` (patterns `<uri>/Split-train/*` in the
            artifact of SequenceGen, which also holds `tokenizer/`), `eval_files`, `serving_model_dir`,
            `base_model` (of a recipe with `warm_start`, an earlier run's exported model; or None),
            `hyperparameters` (the best values that a Tuner has found; or None), `model_run_dir` (the curve),
            and of `custom_config`: `recipe`, the recipe as JSON, and
            `checkpoint_root`, a directory that outlives the run so that it can resume after a kill, or "" for
            none.

    Raises:
        firth.recipes.reading.bundles.NoBundleError: if the model of a warm start is gone.
        firth.recipes.RecipeError: if it is another model than the recipe's.
        pydantic.ValidationError: if the JSON is not a recipe.
    """
    config = fn_args.custom_config or {}
    missing = [key for key in _KEYS if key not in config]
    if missing:
        raise ValueError(f"the Trainer's custom_config lacks {', '.join(missing)}; it has {sorted(config)}")
    root = config["checkpoint_root"] or os.path.join(fn_args.model_run_dir, "checkpoints")
    recipe = run_recipe_from_json(config["recipe"])
    recipe = with_base(recipe, getattr(fn_args, "base_model", None))
    if found := getattr(fn_args, "hyperparameters", None):
        recipe = with_values(recipe, found["values"])
    prepare_devices(recipe.training)
    workers = workers_of(recipe.training)
    with lost_workers_reported(workers):
        recipe = with_steps(recipe, fn_args.train_files, root, workers)
    tokenizer_directory = find_tokenizer(fn_args.train_files)
    model = train(
        recipe, fn_args.train_files, tokenizer_directory, fn_args.model_run_dir, root, fn_args.eval_files
    )
    with lost_workers_reported(workers):
        if workers.is_chief:
            _write(model, recipe, fn_args, root)
        # The Trainer looks for the model in every process.
        workers.wait()


def _write(model: keras.Model, recipe: RunRecipe, fn_args: Any, root: str) -> None:
    """Writes the bundle, the adapter if there is one, and the SavedModel."""
    tokenizer_directory = find_tokenizer(fn_args.train_files)
    counts = None
    if is_over_vocabulary(recipe.goal.loss_classes):
        counts = count_pieces(open_rows(recipe, fn_args.train_files, root), recipe.tokenizer.vocabulary_size)
    tokenizer = load_recipe_tokenizer(recipe, tokenizer_directory)
    place = os.path.dirname(fn_args.serving_model_dir.rstrip("/"))
    bundle, adapter = (os.path.join(place, name) for name in (BUNDLE_FOLDER, ADAPTER_FOLDER))
    # An orchestrator that starts a killed Trainer again gives it the same folders.
    storage.remove(bundle)
    storage.remove(adapter)
    recipe = finished(model, tokenizer, recipe, fn_args.eval_files, adapter)
    with evidence_files(corpora_of(recipe, tokenizer_directory)) as carried:
        save_model(model, recipe, tokenizer_directory, bundle, others=carried)

    from firth.serving import export
    from firth.serving.stored_weights.weights import HELD_OUT_ROWS

    rows = first_rows(fn_args.eval_files or (), HELD_OUT_ROWS)
    export(model, tokenizer, recipe, counts, fn_args.serving_model_dir, rows)


def finished(
    model: keras.Model,
    tokenizer: Any,
    recipe: RunRecipe,
    eval_files: Sequence[str],
    adapter: str | None = None,
    merges: bool = True,
) -> RunRecipe:
    """Completes a trained model and returns its recipe.

    Values that the task chooses on held-out records are in the recipe. Additions that only training needs are
    replaced, and those that merge become a part of the weights.

    Args:
        adapter: Folder that gets the weights of the recipe's method, if it adds any; None for none.
        merges: False to leave additions that merge as they are.
    """
    recipe = _with_choice(model, tokenizer, recipe, eval_files)
    if recipe.trained_by.adds:
        replace_training_additions(model, recipe.trained_by)
        recipe = recipe.model_copy(update={"method": recipe.trained_by.kept})
        if adapter is not None:
            save_adapter(model, recipe, adapter)
        if merges and recipe.trained_by.merges:
            merge(model)
    return recipe


def with_base(recipe: RunRecipe, base_model: str | None) -> RunRecipe:
    """Returns the recipe with the model that the Trainer was given as its base, if it asks for one.

    Raises:
        firth.recipes.reading.bundles.NoBundleError: if the recipe asks for the model, and its files are gone.
        firth.recipes.RecipeError: if the recipe's model is another.
    """
    # An imported base is a bundle itself, and the recipe names it.
    if not recipe.starts_from_blessed:
        return recipe
    if not base_model:
        _LOG.info("warm_start: no model of this pipeline is blessed yet; weights are drawn by the seed")
        return recipe
    bundle = blessed_bundle(os.path.dirname(base_model.rstrip("/")))
    check_same_model(recipe, read_recipe(bundle))
    return recipe.starting_from(bundle, digest_of_bundle(bundle))


def with_steps(
    recipe: RunRecipe, train_files: Sequence[str], checkpoint_root: str, workers: Workers | None = None
) -> RunRecipe:
    """Returns the recipe with its steps, where they follow from the rows."""
    if not recipe.counts_epochs:
        return recipe
    rows = open_rows(recipe, train_files, checkpoint_root, workers)
    return recipe.scheduled(len(rows), count_documents(rows))


def corpora_of(recipe: RunRecipe, tokenizer_directory: str) -> list[CorpusEvidence]:
    """Returns the evidence of the corpora that a run's model was trained on, those of its base first."""
    corpora = []
    if recipe.base is not None:
        base = recipe.base.bundle
        corpora = read_evidence(base) or [CorpusEvidence(read_recipe(base).name, ())]
    if recipe.trains_on_corpus:
        found = list_found_ngrams(os.path.join(os.path.dirname(tokenizer_directory), FOLDER))
        corpora.append(CorpusEvidence(recipe.name, found))
    return corpora


def _with_choice(model: Any, tokenizer: Any, recipe: RunRecipe, eval_files: Sequence[str]) -> RunRecipe:
    """Returns the recipe with the values that its task chooses on the held-out records, if any."""
    from firth.serving.evaluate import leaves_choice, with_choice
    from firth.serving.served_model import Served

    rows = first_rows(eval_files, sys.maxsize) if leaves_choice(recipe) else []
    return with_choice(Served(model, tokenizer, recipe), rows) if rows else recipe


def find_tokenizer(train_files: Sequence[str]) -> str:
    """Returns the tokenizer's folder in the artifact of some rows.

    Example:

    >>> find_tokenizer(["/nowhere/Split-train/*"])
    Traceback (most recent call last):
    ...
    ValueError: /nowhere/tokenizer is not a directory: the rows need the tokenizer they were made with
    """
    if not train_files:
        raise ValueError("the Trainer was given no train_files")
    directory = os.path.join(os.path.dirname(os.path.dirname(train_files[0])), "tokenizer")
    if not storage.is_folder(directory):
        raise ValueError(f"{directory} is not a directory: the rows need the tokenizer they were made with")
    return directory
