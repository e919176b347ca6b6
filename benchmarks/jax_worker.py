"""The speed of training steps on JAX alone, from features that `benchmarks.jax_features` wrote.

python -m benchmarks.jax_worker FOLDER [--steps 200] [--accelerator h100]

It imports no TensorFlow. Forward pass, losses and gradients are those of a training on JAX; the optimizer is
Keras's AdamW, since firth's own imports TensorFlow. Model FLOPs utilisation is the operations that the types
of the recipe count for a step, divided by its time and by the accelerator's published rate.
"""

import argparse
import json
import os
import pathlib
import sys
import time
from collections.abc import Mapping
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax
import keras
import numpy as np

from benchmarks.jax_carry import FEATURES, RECIPE, figures_of
from firth.models import build_model
from firth.recipes.counting.accelerators import ACCELERATORS
from firth.recipes.run.kinds import run_recipe_from_json
from firth.training.jax_backend.gradients import JaxDifferentiator

# Steps that one call makes, and calls that are not timed: the first one compiles.
_OF_CALL, _WARM = 10, 2


def measure(folder: pathlib.Path, steps: int, accelerator: str | None = None) -> dict[str, Any]:
    """Returns the figures of at least some steps.

    Args:
        folder: Folder that `benchmarks.jax_features` wrote; its steps are made over and over.
        steps: Number of steps that are timed.
        accelerator: Name of the accelerator, whose rate utilisation is a share of; None for no share.
    """
    recipe = run_recipe_from_json((folder / RECIPE).read_text())
    with np.load(folder / FEATURES) as file:
        features = {name: jax.device_put(file[name]) for name in file.files}
    model = build_model(recipe)
    optimizer = keras.optimizers.AdamW(1e-4, global_clipnorm=1.0)
    optimizer.build(model.trainable_variables)
    run = jax.jit(_call(model, optimizer, JaxDifferentiator(model, recipe.goal.losses)), donate_argnums=0)
    state = tuple(
        [each.value for each in part]
        for part in (model.trainable_variables, model.non_trainable_variables, optimizer.variables)
    )
    times, losses = [], []
    for number in range(_WARM + -(-steps // _OF_CALL)):
        begun = time.perf_counter()
        state, made = run(state, features, number * _OF_CALL)
        losses += np.asarray(made).tolist()
        times.append((time.perf_counter() - begun) / _OF_CALL)
    return {
        **figures_of(recipe, float(np.median(times[_WARM:])), losses, accelerator),
        "device": jax.devices()[0].device_kind,
        "timed_steps": _OF_CALL * (len(times) - _WARM),
    }


def _call(model: keras.Model, optimizer: keras.optimizers.Optimizer, differentiate: JaxDifferentiator) -> Any:
    """Returns a function that makes some steps of the stacked features, from a number on."""

    def run(state: Any, features: Mapping[str, jax.Array], first: int) -> tuple[Any, jax.Array]:
        count = next(iter(features.values())).shape[0]

        def step(state: Any, number: jax.Array) -> tuple[Any, jax.Array]:
            trained, others, of_optimizer = state
            batch = {name: value[number % count] for name, value in features.items()}
            made, others = differentiate(trained, others, batch)
            trained, of_optimizer = optimizer.stateless_apply(of_optimizer, made.gradients, trained)
            return (trained, others, of_optimizer), made.loss

        return jax.lax.scan(step, state, first + jax.numpy.arange(_OF_CALL))

    return run


def main() -> None:
    """Prints a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--accelerator", choices=sorted(ACCELERATORS))
    said = parser.parse_args()
    measured = measure(said.folder, said.steps, said.accelerator)
    if "tensorflow" in sys.modules:
        raise SystemExit("benchmarks.jax_worker: something has imported TensorFlow")
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
