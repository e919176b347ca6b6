"""Trains small models on some replicas, in a process of its own where there are several.

python -m tests.training.train_replicas ARTIFACTS REPLICAS OUTPUT
"""

import pathlib
import sys

import numpy as np

from firth.recipes import MuonConfig
from firth.training import read_history, train
from tests.training.artifacts import tiny_recipe
from tests.training.word_artifacts import tiny_elmo

STEPS = 24
# Clipping acts at every step.
CLIP = 0.1


def recipes(replicas: int) -> dict:
    """Returns a recipe for each kind of draw: an example's own, and those that a batch shares."""
    training = {"steps": STEPS, "eval_every_steps": STEPS}
    if replicas > 1:
        training |= {"strategy": "mirrored", "replicas": replicas}
    bert = tiny_recipe(True, **training)
    optimizer = bert.training.optimizer.model_copy(update={"gradient_clip_norm": CLIP})
    clipped = bert.training.model_copy(update={"optimizer": optimizer})
    muon = MuonConfig(learning_rate=1e-3, warmup_steps=2, gradient_clip_norm=CLIP)
    with_muon = bert.training.model_copy(update={"optimizer": muon})
    return {
        "bert": bert.model_copy(update={"training": clipped}),
        "muon": bert.model_copy(update={"training": with_muon}),
        "rematerialised": bert.model_copy(
            update={"training": clipped.model_copy(update={"rematerialisation": "blocks"})}
        ),
        "elmo": tiny_elmo(clip=CLIP, **training),
    }


def train_all(artifacts: pathlib.Path, replicas: int, output: pathlib.Path) -> dict:
    """Returns the curve and the weights of each model."""
    found = {}
    for name, recipe in recipes(replicas).items():
        artifact, folder = artifacts / ("elmo" if name == "elmo" else "bert"), output / name
        files = [str(artifact / "Split-train" / "*")]
        places = [str(folder / "run"), str(folder / "checkpoints")]
        held_out = [str(artifact / "Split-eval" / "*")]
        model = train(recipe, files, str(artifact / "tokenizer"), *places, held_out)
        found[name] = read_history(folder / "run"), model.get_weights()
    return found


if __name__ == "__main__":
    written = pathlib.Path(sys.argv[3])
    for each, (_, weights) in train_all(pathlib.Path(sys.argv[1]), int(sys.argv[2]), written).items():
        np.savez(written / each / "weights.npz", *weights)
