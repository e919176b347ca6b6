"""The parts of a training that depend on Keras's backend."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from firth.recipes.run.run_recipe import RunRecipe
from firth.training.checkpoints import Checkpoints, state_by_name
from firth.training.held_out import HeldOut
from firth.training.step import Block, build_block, build_train_step
from firth.training.strategies import DeviceError, prepare_devices

Blocks = Callable[[Iterator[Any], int], Block]


class BackendParts(NamedTuple):
    """The parts of a training on one backend.

    Attributes:
        name: Name of the backend.
        begins: True if it makes the initial weights; otherwise a checkpoint has them.
        prepare: Function that prepares the devices of a recipe.
        checkpoints: Function from a folder, a model, its optimizer, and whether this process writes.
        block: Function from a recipe, a model, its optimizer and a strategy to a maker of steps.
        held_out: Function from a model, a tokenizer, a recipe and patterns of rows to a measurement.
    """

    name: str
    begins: bool
    prepare: Callable[[RunRecipe], None]
    checkpoints: Callable[[str, keras.Model, keras.optimizers.Optimizer, bool], Checkpoints]
    block: Callable[[RunRecipe, keras.Model, keras.optimizers.Optimizer, tf.distribute.Strategy], Blocks]
    held_out: Callable[[keras.Model, Any, RunRecipe, Sequence[str]], Callable[[], dict[str, Any]]]


def check_backend(parts: BackendParts) -> None:
    """Raises a DeviceError if Keras is on another backend than the parts in this process."""
    own = keras.backend.backend()
    if own != parts.name:
        raise DeviceError(
            f"Keras is on {own} in this process, by KERAS_BACKEND or its configuration, but a training "
            f"starts on {parts.name}; `training.backend` chooses what makes its steps"
        )


def _block(
    recipe: RunRecipe,
    model: keras.Model,
    optimizer: keras.optimizers.Optimizer,
    strategy: tf.distribute.Strategy,
) -> Blocks:
    losses, training = recipe.goal.losses, recipe.training
    step = build_train_step(
        model,
        optimizer,
        losses,
        strategy,
        recipe.seed,
        training.gradient_accumulation_steps,
        training.jit_compile,
    )
    return build_block(step, list(losses), strategy)


TENSORFLOW = BackendParts(
    "tensorflow",
    True,
    lambda recipe: prepare_devices(recipe.training),
    lambda folder, model, optimizer, writes: Checkpoints(
        folder, state_by_name(model, optimizer), writes=writes
    ),
    _block,
    HeldOut,
)
