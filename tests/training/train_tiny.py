"""Trains in a process of its own, so that tests can kill it or give it other devices.

python -m tests.training.train_tiny RECIPE_JSON ARTIFACT RUN_DIRECTORY CHECKPOINT_ROOT [WEIGHTS_FILE]
"""

import os
import sys

import numpy as np

from firth.recipes.run.recipe import Recipe
from firth.training import train


def main(recipe_json, artifact, run_directory, checkpoint_root, weights_file=None):
    files = [os.path.join(artifact, "Split-train", "*")]
    tokenizer = os.path.join(artifact, "tokenizer")
    held_out = [os.path.join(artifact, "Split-eval", "*")]
    recipe = Recipe.from_json(recipe_json)
    model = train(recipe, files, tokenizer, run_directory, checkpoint_root, held_out)
    if weights_file:
        np.savez(weights_file, *model.get_weights())


if __name__ == "__main__":
    main(*sys.argv[1:])
