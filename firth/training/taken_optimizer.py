"""The state of an optimizer that goes on from that of the run which made a bundle."""

import os
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from firth import storage
from firth.models.bundle import BundleError, open_weights
from firth.recipes.reading.bundles import checkpoints_of
from firth.training.checkpoints import SavedState, newest_state

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
