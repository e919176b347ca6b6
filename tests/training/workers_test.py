import json

import pytest
import tensorflow as tf

from firth.recipes.training.training import Training
from firth.training import ClusterError
from firth.training.strategies import prepare_devices
from firth.training.workers import Workers, check_cluster

TWO = {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}
# As Vertex writes it.
CHIEF = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}


def config(cluster, job, index):
    return json.dumps({"cluster": cluster, "task": {"type": job, "index": index}, "environment": "cloud"})


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 1),
        ("{}", 1),
        (config(TWO, "worker", 1), 2),
        (config(CHIEF, "chief", 0), 3),
        (config(CHIEF, "worker", "1"), 3),
    ],
)
def test_the_processes_that_are_listed(monkeypatch, text, count):
    monkeypatch.setenv("TF_CONFIG", text)
    assert check_cluster() == count


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "TF_CONFIG is not JSON"),
        ("[]", 'TF_CONFIG has no object at cluster; it should look like {"cluster": {"worker"'),
        ('{"cluster": {"worker": ["a:1"]}, "task": 0}', "TF_CONFIG has no object at task"),
        (
            config({**TWO, "ps": ["c:1"]}, "worker", 0),
            "cluster: ps: with multi_worker_mirrored a process is a chief",
        ),
        (config({"worker": ["a:1", "a"]}, "worker", 0), "cluster: worker: 'a' is not host:port"),
        (config({"worker": ["a:1", "a:1"]}, "worker", 0), "cluster: a:1 is there more than once"),
        (config(TWO, "chief", 0), "task: type: 'chief' is not in the cluster, which has worker"),
        (config(TWO, "worker", 2), "task: index: 2 is not the number of one of the 2 worker addresses"),
        (config(TWO, "worker", None), "task: index: None is not the number"),
    ],
)
def test_a_cluster_that_cannot_be_is_told_in_a_sentence(monkeypatch, text, sentence):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ClusterError) as caught:
        prepare_devices(Training(strategy="multi_worker_mirrored"))
    assert sentence in str(caught.value)


def test_a_pipeline_is_not_one_of_several_processes(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", config(TWO, "worker", 0))
    with pytest.raises(ClusterError, match="2 processes"):
        prepare_devices(Training(strategy="multi_worker_mirrored"), is_pipeline=True)


def test_one_process_is_the_chief_and_asks_nobody():
    workers = Workers(tf.distribute.get_strategy())
    assert workers.is_chief and workers.count == 1
    assert workers.folder("checkpoints") == "checkpoints"
    assert workers.total([3.0, 4.0]) == [3.0, 4.0]
    workers.check_same("anything", 7)
