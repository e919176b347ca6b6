"""The processes of a training, which TF_CONFIG lists, and the division of batches among replicas."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

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


@dataclasses.dataclass(frozen=True)
class BatchShare:
    """The share of each batch that one process reads.

    Attributes:
        worker: Number of the process.
        workers: Number of processes.
        replicas: Number of replicas of all processes together.

    Example:

    >>> BatchShare(worker=1, workers=2, replicas=4).rows(batch_size=8), BatchShare(1, 2, 4).rows_of_replica(8)
    (range(4, 8), 2)
    """

    worker: int = 0
    workers: int = 1
    replicas: int = 1

    @property
    def local_replicas(self) -> int:
        """Number of replicas of this process."""
        return self.replicas // self.workers

    def rows(self, batch_size: int) -> range:
        """Returns the rows of a batch that this process reads.

        Args:
            batch_size: Rows of a batch, for all replicas together.
        """
        own = batch_size // self.workers
        return range(self.worker * own, (self.worker + 1) * own)

    def rows_of_replica(self, batch_size: int) -> int:
        """Returns the number of rows of a batch that one replica reads.

        Args:
            batch_size: Rows of a batch, for all replicas together.
        """
        return batch_size // self.replicas


# The share of a training on one device.
WHOLE = BatchShare()


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
        raise ClusterError(f"{_VARIABLE}: cluster: {repeated[0]} is there more than once")
    _check_task(task, addresses)
    return len(every)


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
        """True if this process writes the checkpoints, the curve and the model, which all share."""
        return self.index == 0

    def folder(self, root: str) -> str:
        """Returns the folder of this process's own files; the chief's is that of the training.

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
        """Waits until all processes call it."""
        self.total([0.0])

    def check_same(self, what: str, number: int) -> None:
        """Raises a ClusterError unless all processes have the same number.

        Args:
            what: Name of the number, for the error.
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
def lost_workers_reported(workers: Workers) -> Iterator[None]:
    """Replaces TensorFlow's error on a lost process by one sentence.

    Args:
        workers: Processes of the training.

    Raises:
        WorkerLostError: instead of TensorFlow's error.
    """
    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError) as error:
        if workers.count == 1:
            raise
        reason = next(iter(str(error.message).splitlines()), "")
        raise WorkerLostError(
            f"worker {workers.index} of {workers.count} has lost another; the last checkpoint is kept, and "
            f"all resume from it when they are started again ({reason})"
        ) from error


def distribute(
    strategy: tf.distribute.Strategy, make: Callable[[BatchShare], tf.data.Dataset]
) -> Iterable[Any]:
    """Returns an iterable of batches, each divided among the replicas in order.

    Each of several processes reads its own share alone.

    Args:
        strategy: Distribution strategy.
        make: Function from a share to the dataset of its replicas' parts of the batches, in order.
    """
    if strategy.num_replicas_in_sync == 1:
        return make(WHOLE)

    def of_process(context: tf.distribute.InputContext) -> tf.data.Dataset:
        pipelines = context.num_input_pipelines
        share = BatchShare(context.input_pipeline_id, pipelines, context.num_replicas_in_sync)
        # If the dataset could end, the replicas of all processes would ask each other before each step.
        return make(share).repeat()

    return strategy.distribute_datasets_from_function(of_process)


def sum_over_replicas(values: Any) -> Any:
    """Returns tensors summed over all replicas; it must be called in a replica.

    Args:
        values: Tensors of this replica, nested or not.
    """
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return values
    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)


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
