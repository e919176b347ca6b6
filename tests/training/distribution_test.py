import subprocess
import sys

import numpy as np
import pytest

from firth.recipes.training import Training
from firth.training import DeviceError, read_history, train
from firth.training.distribution import build_strategy, prepare_devices
from tests.training.artifacts import tiny_recipe, write_artifact, write_split

STEPS, CURVE = 24, ("loss", "mlm_loss", "nsp_loss", "gradient_norm", "tokens")


def recipe_for(**training):
    """Clips at every step, drops of embeddings, attention and sublayers, and measures a held-out loss."""
    recipe = tiny_recipe(steps=STEPS, eval_every_steps=STEPS, **training)
    optimizer = recipe.training.optimizer.model_copy(update={"gradient_clip_norm": 0.1})
    trained = recipe.training.model_copy(update={"optimizer": optimizer})
    assert recipe.model.dropout == recipe.model.attention.dropout == 0.1
    return recipe.model_copy(update={"training": trained})


def train_here(recipe, artifact, directory):
    """Trains in this process; returns the curve and the weights."""
    patterns, tokenizer = [str(artifact / "Split-train" / "*")], str(artifact / "tokenizer")
    places, held_out = (
        [str(directory / name) for name in ("run", "checkpoints")],
        artifact / "Split-eval" / "*",
    )
    model = train(recipe, patterns, tokenizer, *places, [str(held_out)])
    return read_history(directory / "run"), model.get_weights()


def train_apart(recipe, artifact, directory):
    """The same in a process of its own, which may have other devices."""
    directory.mkdir()
    command = [sys.executable, "-m", "tests.training.train_tiny", recipe.to_json(), artifact]
    paths = [directory / "run", directory / "checkpoints", directory / "weights.npz"]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    weights = np.load(directory / "weights.npz")
    return read_history(directory / "run"), [weights[name] for name in weights.files]


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("artifact")
    write_artifact(directory)
    write_split(directory, 8, split="eval", first=100)
    return directory


@pytest.fixture(scope="module")
def one(artifact, tmp_path_factory):
    """The curve and the weights of one replica."""
    return train_here(recipe_for(), artifact, tmp_path_factory.mktemp("one"))


@pytest.mark.parametrize("replicas", [2, pytest.param(4, marks=pytest.mark.repeated)])
def test_replicas_equal_one(replicas, one, artifact, tmp_path):
    """Shares of a batch hold different numbers of predictions, so a mean of their means would differ."""
    curve, weights = one
    recipe = recipe_for(strategy="mirrored", replicas=replicas)
    other_curve, other_weights = train_apart(recipe, artifact, tmp_path / "other")
    assert len(curve) == len(other_curve) == STEPS
    assert all(line["gradient_norm"] > 0.1 for line in curve)
    for line, other in zip(curve, other_curve):
        for name in CURVE:
            assert line[name] == pytest.approx(other[name], rel=1e-5), (line["step"], name)
    assert curve[-1]["held_out_loss"] == pytest.approx(other_curve[-1]["held_out_loss"], rel=1e-5)
    for value, other in zip(weights, other_weights, strict=True):
        np.testing.assert_allclose(value, other, rtol=0, atol=1e-6)


def test_devices_that_cannot_be_had_are_refused(artifact):
    """This process has started TensorFlow with one CPU."""
    build_strategy(Training())
    with pytest.raises(DeviceError, match="needs 3 logical CPUs, but TensorFlow has already started"):
        prepare_devices(Training(strategy="mirrored", replicas=3, batch_size=3))
    with pytest.raises(DeviceError, match="replicas: 3, but this machine has 1 CPU"):
        build_strategy(Training(strategy="mirrored", replicas=3, batch_size=3))


def test_one_device_needs_no_preparation():
    for training in (Training(), Training(strategy="mirrored"), Training(strategy="mirrored", replicas=1)):
        prepare_devices(training)
        assert build_strategy(training).num_replicas_in_sync == 1
