"""Prepared features of a run's first steps, for a machine that has JAX and no TensorFlow.

python -m benchmarks.jax_features RECIPE ROWS FOLDER [--steps 1000] [--set KEY=VALUE]...

ROWS is a folder that SequenceGen wrote, with the tokenizer and `Split-train`. `benchmarks.jax_worker` trains
on what FOLDER gets.
"""

import argparse
import os
import pathlib
import tempfile

import numpy as np

from benchmarks.jax_carry import FEATURES, RECIPE
from firth.objectives import OBJECTIVES
from firth.recipes import load_recipe
from firth.tokenizers import load_tokenizer
from firth.training.input_pipeline import training_batches
from firth.training.pretraining import open_rows


def main() -> None:
    """Writes the recipe, and the features of all steps in one compressed file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe")
    parser.add_argument("rows")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--set", action="append", default=[])
    said = parser.parse_args()
    recipe = load_recipe(said.recipe, said.set)
    objective = OBJECTIVES[recipe.objective.kind](
        recipe.objective, recipe.sequences, load_tokenizer(os.path.join(said.rows, "tokenizer"))
    )
    with tempfile.TemporaryDirectory() as root:
        rows = open_rows(recipe, [os.path.join(said.rows, "Split-train", "*")], root)
        size = recipe.training.batch_size
        batches = training_batches(rows, objective, recipe.seed, size, 0, said.steps)
        made = [{name: value.numpy() for name, value in features.items()} for _, features in batches]
    said.folder.mkdir(parents=True, exist_ok=True)
    (said.folder / RECIPE).write_text(recipe.to_json())
    stacked = {name: np.stack([each[name] for each in made]) for name in made[0]}
    np.savez_compressed(said.folder / FEATURES, **stacked)
    size_of_file = (said.folder / FEATURES).stat().st_size
    print(f"{len(made)} steps of {recipe.training.batch_size} rows: {size_of_file / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
