"""Cost of training steps of one recipe: peak memory above that of the process, and seconds.

    python -m benchmarks.workers.step_worker '{"family": "bert", "size": {"layers": 4}, "training": {}}'

Prints a line of JSON. Peak memory is the resident set of the process, less what it had before the model was
made.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from benchmarks.workers import batches
from benchmarks.workers.families import FAMILIES, Size
from benchmarks.workers.memory import peak_bytes, status_bytes
from benchmarks.workers.recipes import make_recipe
from firth import features as names
from firth.models import build_pretraining_model
from firth.recipes.run.recipe import Recipe
from firth.training.input_pipeline import noise_keys
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step


def recipe_of(family: str, size: dict, training: dict) -> Recipe:
    """Returns the recipe of a family of `benchmarks.models`, with other settings of its training."""
    shape = Size(**size)
    recipe = make_recipe(family, FAMILIES[family], shape)
    changed = {**recipe.training.model_dump(), **training}
    return Recipe.model_validate({**recipe.model_dump(), "training": changed})


def measure(family: str, size: dict, training: dict, steps: int = 3) -> dict:
    """Returns the bytes and the seconds of some steps."""
    recipe = recipe_of(family, size, training)
    before = status_bytes()["VmRSS"]
    model = build_pretraining_model(recipe)
    optimizer = build_optimizer(recipe.training.optimizer, recipe.training.steps, model=model)
    optimizer.build(model.trainable_variables)
    step = build_train_step(
        model,
        optimizer,
        recipe.objective.losses,
        tf.distribute.get_strategy(),
        recipe.seed,
        recipe.training.gradient_accumulation_steps,
        recipe.training.jit_compile,
    )
    batch = batch_of(family, Size(**size), recipe)
    losses, seconds = [], []
    for _ in range(steps + 1):
        started = time.perf_counter()
        losses.append(float(step(batch).loss))
        seconds.append(time.perf_counter() - started)
    return {"peak": peak_bytes() - before, "before": before, "seconds": seconds[1:], "losses": losses}


def batch_of(family: str, size: Size, recipe: Recipe) -> dict[str, tf.Tensor]:
    """Returns a batch of rows, each of one document of random ids."""
    ids = np.random.default_rng(0).integers(5, FAMILIES[family].vocabulary, (size.batch, size.length + 64))
    target = recipe.objective.target_length(recipe.sequences) if recipe.model.has_decoder else 0
    documents = [batches.as_document(row.tolist(), FAMILIES[family], size.length, target) for row in ids]
    features = batches.make_lot([[each] for each in documents], FAMILIES[family], size, target, 0)
    rows = np.arange(size.batch)
    features[names.NOISE_KEYS] = noise_keys(recipe.seed, np.zeros_like(rows), rows)
    return {name: tf.constant(value) for name, value in features.items()}


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
