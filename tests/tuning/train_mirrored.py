"""Adapts a tiny model on some replicas, in a process of its own.

python -m tests.tuning.train_mirrored FOLDER REPLICAS

The folder has what `tests.tuning.runs.adapting` writes, and its recipe as `recipe.json`.
"""

import pathlib
import sys

import numpy as np

from firth.models.bundle import weights_by_path
from firth.recipes.run.kinds import run_recipe_from_json
from firth.training import train


def trained(folder: pathlib.Path, replicas: int) -> dict[str, np.ndarray]:
    """Returns the weights after a few steps."""
    recipe = run_recipe_from_json((folder / "recipe.json").read_text())
    several = {"strategy": "mirrored", "replicas": replicas} if replicas > 1 else {}
    recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update=several)})
    files, own = [f"{folder}/Split-train/*"], folder / str(replicas)
    model = train(recipe, files, f"{folder}/tokenizer", str(own / "run"), str(own / "checkpoints"))
    return {path: np.array(each) for path, each in weights_by_path(model).items()}


if __name__ == "__main__":
    place, count = pathlib.Path(sys.argv[1]), sys.argv[2]
    np.savez(place / f"weights_{count}.npz", **trained(place, int(count)))
