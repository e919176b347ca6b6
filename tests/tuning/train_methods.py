"""Adapts small models on some replicas, in a process of its own.

python -m tests.tuning.train_methods FOLDER REPLICAS
"""

import pathlib
import sys

import numpy as np

from firth.recipes.tuning.methods import Discriminative, GradualUnfreezing, Head, LastLayers
from firth.training import prepare_devices
from tests.training.artifacts import tiny_recipe
from tests.tuning.runs import adapting, weights_after
from tests.tuning.table import ADDING, small

# Each method with dropout on BERT, one of each sort on a decoder, and the methods that choose layers.
OF_DECODER = ("adalora", "pfeiffer", "prefix_tuning", "prompt_tuning")
SETTINGS = {
    **{(kind, "bert"): small(kind, dropout=0.1) for kind in ADDING},
    **{(kind, "gpt"): small(kind, dropout=0.1) for kind in OF_DECODER},
    ("head", "bert"): Head(),
    ("last_layers", "bert"): LastLayers(layers=1),
    ("discriminative", "bert"): Discriminative(decay=0.5),
    ("gradual_unfreezing", "bert"): GradualUnfreezing(),
}


def train_all(folder: pathlib.Path, replicas: int) -> None:
    """Writes the weights of each method and family after a run to `<method>-<family>.npz`."""
    several = {"strategy": "mirrored", "replicas": replicas} if replicas > 1 else {}
    # Before TensorFlow starts, as it does where bundles are written.
    prepare_devices(tiny_recipe(**several).training)
    for (kind, family), method in SETTINGS.items():
        place = folder / f"{kind}-{family}"
        recipe = adapting(family, place, method, **several)
        weights = weights_after(recipe, place, place / "run", place / "checkpoints")
        np.savez(folder / f"{kind}-{family}.npz", **weights)


if __name__ == "__main__":
    train_all(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
