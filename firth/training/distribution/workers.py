"""The processes of a training, which the environment variable TF_CONFIG lists."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from firth.training.distribution.replicas import sum_over_replicas

_VARIABLE = "TF_CONFIG"
# Jobs of TensorFlow's clusters whose tasks train: all hold the whole model.
_JOBS = ("chief", "worker")
_EXAMPLE = (
    '{"cluster": {"worker": ["10.0.0.1:2222", "10.0.0.2:2222"]}, "task": {"type": "worker", "index": 0}}'
)


class ClusterError(RuntimeError):
    """TF_CONFIG does not describe the processes of a training, or they do not fit together."""


class WorkerLostError(RuntimeError):
    """Another process of the training has ended or cannot be reached."""


def check_cluster() -> int:
    """Returns the number of processes that TF_CONFIG lists; 1 if it is not set."""
    text = os.environ.get(_VARIABLE, "")
    if not text.strip():
        return 1
    try:
        config = json.loads(text)
    except ValueError as error:
        raise ClusterError(f"{_VARIABLE} is not JSON ({error}); it should look like {_EXAMPLE}") from None
    cluster, task = (_mapping(config, key) for key in ("cluster", "task"))
    if not cluster:
        return 1
    unknown = [job for job in cluster if job not in (*_JOBS, "evaluator")]
    if unknown:
        raise ClusterError(
            f"{_VARIABLE}: cluster: {unknown[0]}: with multi_worker_mirrored a process is a chief or a worker"
        )
    addresses = {job: _addresses(job, cluster[job]) for job in _JOBS if job in cluster}
    every = [address for each in addresses.values() for address in each]
    repeated = [address for address in every if every.count(address) > 1]
    if repeated:
        raise ClusterError(f"{_VARIABLE}: cluster: {repeated[0]} stands there more than once")
    _check_task(task, addresses)
    return len(every)


def _mapping(config: Any, key: str) -> Mapping[str, Any]:
    value = config.get(key, {}) if isinstance(config, Mapping) else None
    if not isinstance(value, Mapping):
        raise ClusterError(f"{_VARIABLE} has no object at {key}; it should look like {_EXAMPLE}")
    return value


def _addresses(job: str, value: Any) -> Sequence[str]:
    found = value if isinstance(value, list) else [value]
    for address in found:
        host, _, port = str(address).rpartition(":")
        if not host or not port.isdigit():
            raise ClusterError(f"{_VARIABLE}: cluster: {job}: {address!r} is not host:port")
    return [str(address) for address in found]


def _check_task(task: Mapping[str, Any], addresses: Mapping[str, Sequence[str]]) -> None:
    job, index = task.get("type"), task.get("index")
    if job not in addresses:
        raise ClusterError(
            f"{_VARIABLE}: task: type: {job!r} is not in the cluster, which has {', '.join(addresses)}"
        )
    count = len(addresses[str(job)])
    if not str(index).isdigit() or int(str(index)) >= count:
        raise ClusterError(
            f"{_VARIABLE}: task: index: {index!r} is not the number of one of the {count} {job} addresses, "
            "counted from 0"
        )


class Workers:
    """The processes that a strategy spans, as one of them sees them.

    Args:
        strategy: Distribution strategy.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self._strategy = strategy
        resolver = strategy.cluster_resolver
        spec = resolver.cluster_spec().as_dict() if resolver and resolver.task_type else {}
        tasks = [(job, index) for job in _JOBS for index in range(len(spec.get(job, ())))]
        own = (resolver.task_type, resolver.task_id) if tasks else None
        self.count = max(len(tasks), 1)
        self.index = tasks.index(own) if own else 0

    @property
    def is_chief(self) -> bool:
        """Whether this process writes what all share: checkpoints, curve and model."""
        return self.index == 0

    def folder(self, root: str) -> str:
        """Returns where this process keeps what it makes for itself; the chief, what it makes for all.

        Args:
            root: Folder of the training.
        """
        return root if self.is_chief else os.path.join(root, f"worker-{self.index}")

    def total(self, values: Sequence[float]) -> list[float]:
        """Returns numbers summed over all processes, each of which must call it.

        Args:
            values: Numbers of this process.
        """
        if self.count == 1:
            return list(values)
        local = self._strategy.num_replicas_in_sync // self.count
        totals = self._summed(tf.constant(values, tf.float64))
        return [value / local for value in totals.numpy().tolist()]

    @tf.function(autograph=False, reduce_retracing=True)
    def _summed(self, values: tf.Tensor) -> tf.Tensor:
        # Made in the replica, so that it has a device there.
        totals = self._strategy.run(lambda each: sum_over_replicas(tf.identity(each)), args=(values,))
        return self._strategy.experimental_local_results(totals)[0]

    def wait(self) -> None:
        """Returns when all processes have come here."""
        self.total([0.0])

    def check_same(self, what: str, number: int) -> None:
        """Passes if all processes have the same number.

        Args:
            what: What the number is, for the error.
            number: The number of this process.

        Raises:
            ClusterError: if another process has another number.
        """
        each = [0.0] * self.count
        each[self.index] = float(number)
        found = [int(value) for value in self.total(each)]
        if len(set(found)) > 1:
            shown = ", ".join(f"worker {index}: {value}" for index, value in enumerate(found))
            raise ClusterError(f"the processes of this training differ in {what}: {shown}")


@contextlib.contextmanager
def lost_workers_told(workers: Workers) -> Iterator[None]:
    """Turns what TensorFlow says when another process has gone into one sentence.

    Args:
        workers: Processes of the training.

    Raises:
        WorkerLostError: in the place of TensorFlow's error.
    """
    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError) as error:
        if workers.count == 1:
            raise
        reason = next(iter(str(error.message).splitlines()), "")
        raise WorkerLostError(
            f"worker {workers.index} of {workers.count} has lost another; the last checkpoint is kept, and "
            f"all go on from it when they are started again ({reason})"
        ) from error
