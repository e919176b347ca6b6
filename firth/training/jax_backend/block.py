"""A block of steps in one compiled function."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import numpy.typing as npt

from firth.recipes.run.run_recipe import RunRecipe
from firth.training.jax_backend.devices import place_batches, replicas
from firth.training.jax_backend.gradients import JaxDifferentiator
from firth.training.jax_backend.step import State, TrainStep
from firth.training.steps import Block, StepResult, draw_state

# Of a call of the compiled function at most: enough that its start costs nothing, and few enough that the
# memory holds the batches of all of them, which a call is given together.
_MOST_STEPS_OF_CALL = 16


def build_jax_block(
    recipe: RunRecipe, model: keras.Model, optimizer: keras.optimizers.Optimizer
) -> Callable[[Iterator[Any], int], Block]:
    """Returns a function that makes the next steps of an iterator, and then reads what they measured.

    Its arguments are an iterator over pairs of example ids, int64 [rows], and features, and the number of
    steps. It compiles once for each shape of the features, whatever the number. Values of the last call are
    given to the next one, which writes over them.
    """
    losses = list(recipe.goal.losses)
    parts = recipe.training.gradient_accumulation_steps
    step = TrainStep(model, optimizer, JaxDifferentiator(model, recipe.goal.losses, parts, replicas()))
    # The values stay where they are, divided or not.
    placed = jax.tree.map(lambda value: value.sharding, step.read())
    run = jax.jit(_calls(step, losses), donate_argnums=0, out_shardings=(placed, None))
    capacity = min(recipe.training.steps_per_execution or _MOST_STEPS_OF_CALL, _MOST_STEPS_OF_CALL)

    def block(iterator: Iterator[Any], steps: int) -> Block:
        first, state = int(optimizer.iterations.value), step.read()
        ids, measured = [], []
        for begin in range(0, steps, capacity):
            count = min(capacity, steps - begin)
            batches = [next(iterator) for _ in range(count)]
            ids += [each.numpy() for each, _ in batches]
            draws = _draws(recipe.seed, first + begin, count, capacity)
            # Nothing is read from the device here, so that the next batches are made meanwhile.
            state, values = run(state, _stacked([each for _, each in batches], capacity), draws, count)
            measured.append(values)
        step.write(state)
        rows = np.concatenate([np.asarray(each) for each in measured])[:steps]
        return Block([_result(row, losses) for row in rows.tolist()], np.stack(ids))

    return block


def _calls(step: TrainStep, losses: list[str]) -> Callable[..., tuple[State, jax.Array]]:
    """Returns a function that makes the first of some stacked batches' steps."""

    def run(
        state: State, batches: Mapping[str, jax.Array], draws: jax.Array, count: jax.Array
    ) -> tuple[State, jax.Array]:
        def body(index: jax.Array, carried: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
            state, measured = carried
            batch = {name: value[index] for name, value in batches.items()}
            state, made = step(state, batch, draws[index])
            values = [made.loss, *(made.losses[name] for name in losses), *made[2:]]
            return state, measured.at[index].set(jnp.stack(values))

        measured = jnp.zeros((draws.shape[0], len(losses) + 4), jnp.float32)
        return jax.lax.fori_loop(0, count, body, (state, measured))

    return run


def _result(row: list[float], losses: list[str]) -> StepResult:
    loss, *means, norm, tokens, rate = row
    return StepResult(loss, dict(zip(losses, means, strict=True)), norm, tokens, rate)


def _draws(seed: int, first: int, count: int, capacity: int) -> npt.NDArray[np.uint32]:
    draws = np.zeros((capacity, 2), np.uint32)
    for place in range(count):
        draws[place] = draw_state(seed, first + place).numpy().astype(np.uint32)
    return draws


def _stacked(batches: list[Mapping[str, Any]], capacity: int) -> dict[str, jax.Array]:
    """Returns features [capacity, rows, ...], of which those after the batches are not read."""
    stacked = {}
    for name, example in batches[0].items():
        values = np.zeros((capacity, *example.shape), example.dtype.as_numpy_dtype)
        for place, batch in enumerate(batches):
            values[place] = batch[name].numpy()
        stacked[name] = values
    return place_batches(stacked)
