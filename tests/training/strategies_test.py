import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from firth.recipes.training.training import Training
from firth.training import DeviceError, read_history
from firth.training.strategies import build_strategy, prepare_devices
from tests.training.artifacts import write_artifact, write_split
from tests.training.train_replicas import CLIP, STEPS, recipes, train_all
from tests.training.word_artifacts import write_word_artifact

CURVE = ("loss", "gradient_norm", "tokens")


def train_apart(artifacts, replicas, output):
    """Returns the results of `train_all` in a process of its own, which may have other devices."""
    command = [sys.executable, "-m", "tests.training.train_replicas", artifacts, str(replicas), output]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = {}
    for name in recipes(replicas):
        weights = np.load(output / name / "weights.npz")
        found[name] = read_history(output / name / "run"), [weights[part] for part in weights.files]
    return found


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    directory = tmp_path_factory.mktemp("artifacts")
    write_artifact(directory / "bert")
    write_split(directory / "bert", 8, split="eval", first=100)
    write_word_artifact(directory / "elmo")
    return directory


@pytest.fixture(scope="module")
def one(artifacts, tmp_path_factory):
    """The curves and the weights of one replica."""
    return train_all(artifacts, 1, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module", params=[2, 4], ids="{} replicas".format)
def several(request, artifacts, tmp_path_factory):
    return train_apart(artifacts, request.param, tmp_path_factory.mktemp("several"))


def test_what_is_compared_draws():
    """Dropout of embeddings, attention and sublayers; of words and states, and words for the softmax."""
    bert, elmo = (recipes(1)[name] for name in ("bert", "elmo"))
    assert bert.model.dropout == bert.model.attention.dropout == elmo.model.dropout == 0.1
    assert elmo.objective.negatives < elmo.tokenizer.vocabulary_size


@pytest.mark.repeated
@pytest.mark.parametrize("name", ["bert", "muon", "rematerialised", "elmo"])
def test_replicas_equal_one(name, one, several):
    """Shares of a batch hold different numbers of predictions, so a mean of their means would differ."""
    (curve, weights), (other_curve, other_weights) = one[name], several[name]
    assert len(curve) == len(other_curve) == STEPS
    assert all(line["gradient_norm"] > CLIP for line in curve)
    for line, other in zip(curve, other_curve):
        for key in (*CURVE, *(f"{loss}_loss" for loss in recipes(1)[name].objective.losses)):
            assert line[key] == pytest.approx(other[key], rel=1e-5), (line["step"], key)
    assert curve[-1]["held_out_loss"] == pytest.approx(other_curve[-1]["held_out_loss"], rel=1e-5)
    for value, other in zip(weights, other_weights, strict=True):
        np.testing.assert_allclose(value, other, rtol=0, atol=1e-6)


def test_devices_that_cannot_be_had_are_refused():
    """This process has started TensorFlow with one CPU."""
    tf.zeros([])
    build_strategy(Training())
    with pytest.raises(DeviceError, match="3 logical CPUs"):
        prepare_devices(Training(strategy="mirrored", replicas=3, batch_size=3))
    with pytest.raises(DeviceError, match="replicas: 3, but this machine has 1 CPU"):
        build_strategy(Training(strategy="mirrored", replicas=3, batch_size=3))


def test_one_device_needs_no_preparation():
    for training in (Training(), Training(strategy="mirrored"), Training(strategy="mirrored", replicas=1)):
        prepare_devices(training)
        assert build_strategy(training).num_replicas_in_sync == 1
