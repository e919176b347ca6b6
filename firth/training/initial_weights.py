"""The weights that a run starts from where its recipe has a base."""

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
from firth.tokenizers import load_tokenizer
from firth.training.checkpoints import SavedState, newest_state

START_FILE = "start.json"
_LOG = logging.getLogger(__name__)


def take_start(
    model: keras.Model, state: Mapping[str, tf.Variable], base: Base, tokenizer: Any, kept: str
) -> None:
    """Assigns the base's weights to a model, and writes down which ones it takes.

    The optimizer's state is fresh, unless the base is asked for it.

    Args:
        kept: Folder of the run's checkpoints, for `start.json`: `bundle`, `digest`, the layers that are made
            fresh, whether the optimizer is `taken` or `fresh`, the number of `trained_parameters`, and the
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
    said = {
        "bundle": base.bundle,
        "digest": base.digest,
        "optimizer": "taken" if base.take_optimizer else "fresh",
        "fresh_layers": layers_of(start.fresh),
        "trained_parameters": sum(math.prod(weight.shape) for weight in model.trainable_weights),
        **dataclasses.asdict(start),
    }
    storage.write_json(os.path.join(kept, START_FILE), said, indent=1)
    fresh = ", ".join(said["fresh_layers"]) or "nothing"
    _LOG.info("started from %s; made fresh: %s; the optimizer is %s", base.bundle, fresh, said["optimizer"])


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


def check_frozen(model: keras.Model, fresh: Iterable[str], bundle: str) -> None:
    """Passes if no part of the heads is random and stays so, since the method takes it for the base's."""
    of_base = {id(each) for each in model.heads.of_base if not each.trainable}
    paths = {path for path, each in weights_by_path(model).items() if id(each) in of_base}
    if lacking := sorted(paths.intersection(fresh)):
        raise BundleError(
            f"{bundle} has no trained {first_of(lacking)}, which the run's method leaves as it is; "
            "method.kind: full and head train it"
        )


def show_start(kept: str, run_directory: str) -> None:
    """Copies what is written of a run's start to its curve."""
    storage.copy_file(os.path.join(kept, START_FILE), os.path.join(run_directory, START_FILE))


def layers_of(paths: Iterable[str]) -> list[str]:
    """Returns the layers of a model that some weights belong to, each once.

    Example:

    >>> layers_of(["heads/pooler/dense/kernel", "heads/pooler/dense/bias", "heads/pair_head/kernel"])
    ['heads/pooler', 'heads/pair_head']
    """
    return list(dict.fromkeys("/".join(path.split("/")[:2]) for path in paths))


_OPTIMIZER = "optimizer/"


def take_optimizer(state: Mapping[str, tf.Variable], bundle: str) -> tuple[str, ...]:
    """Sets an optimizer's variables to those of the checkpoint that a bundle was made of.

    Raises:
        BundleError: if no checkpoint of the run has the bundle's weights.
    """
    saved = _state_of(bundle)
    variables = {name: each for name, each in state.items() if name.startswith(_OPTIMIZER)}
    fitting = {name for name, each in variables.items() if saved.shapes.get(name) == tuple(each.shape)}
    for name in fitting:
        # They may be kept in another dtype than there.
        variables[name].assign(tf.cast(saved[name], variables[name].dtype))
    return tuple(name for name in variables if name not in fitting)


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
