"""Makes the first steps of recipes on JAX, from the same weights, in a process that has four CPU devices.

python -m tests.training.jax_backend.make_steps ARTIFACT RECIPE_JSON...

A line of JSON for each recipe: what its steps measured, and the shapes of its weights and of their parts.
"""

import json
import os
import subprocess
import sys
import tempfile
from unittest import mock

DEVICES = 4


def steps_of(artifact, *recipes):
    """Runs the module in a process of its own; returns the measures of each recipe."""
    command = [sys.executable, "-m", __name__, str(artifact), *(recipe.to_json() for recipe in recipes)]
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={DEVICES}"
    environment = {**os.environ, "KERAS_BACKEND": "jax", "XLA_FLAGS": flags.strip()}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measured(recipe, artifact):
    """Losses, shapes of weights and of their parts by path, and batches of each call, of a recipe's steps."""
    import tensorflow as tf

    from firth.models import build_model
    from firth.objectives import OBJECTIVES
    from firth.tokenizers import load_tokenizer
    from firth.training.input_pipeline import training_batches
    from firth.training.jax_backend import parts as block
    from firth.training.jax_backend.devices import place_batches, use_devices
    from firth.training.optimizers.optimizer_kinds import build_optimizer
    from firth.training.pretraining import open_rows

    tf.config.set_visible_devices([], "GPU")
    use_devices(recipe)
    training, steps = recipe.training, recipe.training.steps
    model = build_model(recipe)
    optimizer = build_optimizer(training.optimizer, steps, model=model)
    optimizer.build(model.trainable_variables)
    objective = OBJECTIVES[recipe.objective.kind](
        recipe.objective, recipe.sequences, load_tokenizer(os.path.join(artifact, "tokenizer"))
    )
    with tempfile.TemporaryDirectory() as root:
        rows = open_rows(recipe, [os.path.join(artifact, "Split-train", "*")], root)
        batches = training_batches(rows, objective, recipe.seed, training.batch_size, 0, steps)
        with mock.patch.object(block, "place_batches", side_effect=place_batches) as placed:
            made = block.build_jax_block(recipe, model, optimizer)(iter(batches), steps)
    calls = [arguments[0] for arguments, _ in placed.call_args_list]
    return {
        "losses": [result.loss for result in made.results],
        "batches_of_a_call": [len(next(iter(stacked.values()))) for stacked in calls],
        "norms": [result.gradient_norm for result in made.results],
        "shapes": {each.path: each.shape for each in model.trainable_variables},
        "parts": {
            each.path: [part.data.shape for part in each.value.addressable_shards]
            for each in (*model.trainable_variables, *optimizer.variables)
        },
    }


def main(artifact, *recipes):
    """Prints a line for each recipe."""
    from firth.recipes.run.kinds import run_recipe_from_json

    for each in recipes:
        print(json.dumps(measured(run_recipe_from_json(each), artifact)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
