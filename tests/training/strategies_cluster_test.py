"""A TF_CONFIG of several processes, each of which would train alone."""

import json

import pytest

from firth.recipes.training.training import Training
from firth.training import ClusterError
from firth.training.strategies import prepare_devices

ADDRESSES = ["10.0.0.1:2222", "10.0.0.2:2222"]


def config(count):
    return json.dumps({"cluster": {"worker": ADDRESSES[:count]}, "task": {"type": "worker", "index": 0}})


@pytest.mark.parametrize("strategy", ["none", "mirrored"])
def test_several_processes_do_not_each_make_the_whole_training(monkeypatch, strategy):
    monkeypatch.setenv("TF_CONFIG", config(2))
    with pytest.raises(ClusterError, match=f"training.strategy: {strategy}; use multi_worker_mirrored"):
        prepare_devices(Training(strategy=strategy, replicas=1))


@pytest.mark.parametrize("text", ["", config(1), "of another program"])
def test_one_process_needs_no_cluster(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    prepare_devices(Training())
