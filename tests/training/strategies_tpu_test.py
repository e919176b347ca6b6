"""The way to a TPU, as far as it goes without one: only the resolver and the strategy's class are stubs."""

from types import SimpleNamespace

import pytest
import tensorflow as tf

from firth.recipes.training.training import Training
from firth.training import DeviceError, strategies, train
from firth.training.strategies import build_strategy, prepare_devices
from tests.training.artifacts import tiny_recipe, write_artifact

RESOLVER = object()


@pytest.fixture(autouse=True)
def forgotten():
    """A process has one TPU; the tests have several."""
    strategies._tpu.cache_clear()
    yield
    strategies._tpu.cache_clear()


def stub(monkeypatch, hosts=1):
    """Replaces a TPU by the one device of this machine, on a mirrored strategy."""
    made = []

    def connect():
        made.append("connected")
        return RESOLVER

    def of(resolver):
        assert resolver is RESOLVER
        made.append("made")
        strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        monkeypatch.setattr(type(strategy.extended), "num_hosts", hosts, raising=False)
        return strategy

    resolvers = SimpleNamespace(TPUClusterResolver=SimpleNamespace(connect=connect))
    monkeypatch.setattr(tf.distribute, "cluster_resolver", resolvers)
    monkeypatch.setattr(tf.distribute, "TPUStrategy", of)
    return made


@pytest.mark.usefixtures("eager")
def test_a_training_connects_once_and_trains(monkeypatch, tmp_path):
    made = stub(monkeypatch)
    files = write_artifact(tmp_path / "rows")
    places = [str(tmp_path / part) for part in ("rows/tokenizer", "run", "checkpoints")]
    model = train(tiny_recipe(steps=2, strategy="tpu"), files, *places)
    assert made == ["connected", "made"]
    assert type(model.trainable_variables[0].value).__name__ == "MirroredVariable"


def test_a_slice_of_several_hosts_is_refused(monkeypatch):
    stub(monkeypatch, hosts=4)
    with pytest.raises(DeviceError, match="4 hosts"):
        build_strategy(Training(strategy="tpu"))


def test_without_a_tpu_it_says_so(monkeypatch):
    monkeypatch.delenv("TPU_NAME", raising=False)
    with pytest.raises(DeviceError, match=r"training\.strategy: tpu: no TPU"):
        prepare_devices(Training(strategy="tpu"))
