"""What a training is made of on each of Keras's backends."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from firth.recipes.run.run_recipe import RunRecipe
from firth.training.checkpoints import Checkpoints, state_by_name
from firth.training.distribution import DeviceError, prepare_devices
from firth.training.held_out import HeldOut
from firth.training.steps import Block, build_block, build_train_step

Blocks = Callable[[Iterator[Any], int], Block]


class BackendParts(NamedTuple):
    """The parts of a training that a backend has of its own.

    Attributes:
        name: Name of the backend.
        begins: Whether it makes the weights of the beginning; otherwise a checkpoint has them.
        prepare: Function that makes ready the devices of a recipe.
        checkpoints: Function from a folder, a model, its optimizer, and whether this process writes.
        block: Function from a recipe, a model, its optimizer and a strategy to one that makes steps.
        held_out: Function from a model, a tokenizer, a recipe and patterns of rows to one that measures.
    """

    name: str
    begins: bool
    prepare: Callable[[RunRecipe], None]
    checkpoints: Callable[[str, keras.Model, keras.optimizers.Optimizer, bool], Checkpoints]
    block: Callable[[RunRecipe, keras.Model, keras.optimizers.Optimizer, tf.distribute.Strategy], Blocks]
    held_out: Callable[[keras.Model, Any, RunRecipe, Sequence[str]], Callable[[], dict[str, Any]]]


def check_backend(parts: BackendParts) -> None:
    """Passes if Keras is on the backend of some parts in this process."""
    own = keras.backend.backend()
    if own != parts.name:
        raise DeviceError(
            f"Keras is on {own} in this process, by KERAS_BACKEND or its configuration, but a training "
            f"starts on {parts.name}; `training.backend` chooses what makes its steps"
        )


def _prepare(recipe: RunRecipe) -> None:
    prepare_devices(recipe.training)


def _checkpoints(
    folder: str, model: keras.Model, optimizer: keras.optimizers.Optimizer, writes: bool
) -> Checkpoints:
    return Checkpoints(folder, state_by_name(model, optimizer), writes=writes)


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


TENSORFLOW = BackendParts("tensorflow", True, _prepare, _checkpoints, _block, HeldOut)
