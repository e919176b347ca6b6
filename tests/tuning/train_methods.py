"""Adapts small models on some replicas, in a process of its own.

python -m tests.tuning.train_methods FOLDER REPLICAS
"""

import pathlib
import sys

import numpy as np

from firth.training import prepare_devices
from tests.training.artifacts import tiny_recipe
from tests.tuning.runs import adapting, weights_after
from tests.tuning.table import ADDING, small


def train_all(folder: pathlib.Path, replicas: int) -> None:
    """Writes the weights of each method after a run to `<method>.npz`."""
    several = {"strategy": "mirrored", "replicas": replicas} if replicas > 1 else {}
    # Before TensorFlow starts, as it does where bundles are written.
    prepare_devices(tiny_recipe(**several).training)
    for name in ADDING:
        place = folder / name
        recipe = adapting("bert", place, small(name), **several)
        weights = weights_after(recipe, place, place / "run", place / "checkpoints")
        np.savez(folder / f"{name}.npz", **weights)


if __name__ == "__main__":
    train_all(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
