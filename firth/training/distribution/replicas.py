"""The division of batches among replicas, and sums over them."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf


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
        """Returns the rows of a batch that are this process's.

        Args:
            batch_size: Rows of a batch, for all replicas together.
        """
        own = batch_size // self.workers
        return range(self.worker * own, (self.worker + 1) * own)

    def rows_of_replica(self, batch_size: int) -> int:
        """Returns how many rows of a batch are one replica's.

        Args:
            batch_size: Rows of a batch, for all replicas together.
        """
        return batch_size // self.replicas


# Of a training on one device.
WHOLE = BatchShare()


def distribute(
    strategy: tf.distribute.Strategy, make: Callable[[BatchShare], tf.data.Dataset]
) -> Iterable[Any]:
    """Returns an iterable of batches, each divided among the replicas in order.

    Of several processes, each reads its own share alone.

    Args:
        strategy: Distribution strategy.
        make: Function from a share to the dataset of its replicas' parts of the batches, in order.
    """
    if strategy.num_replicas_in_sync == 1:
        return make(WHOLE)

    def of_process(context: tf.distribute.InputContext) -> tf.data.Dataset:
        pipelines = context.num_input_pipelines
        share = BatchShare(context.input_pipeline_id, pipelines, context.num_replicas_in_sync)
        # Of a dataset that may end, the replicas of all processes would ask each other before each step.
        return make(share).repeat()

    iterable: Iterable[Any] = strategy.distribute_datasets_from_function(of_process)
    return iterable


def sum_over_replicas(values: Any) -> Any:
    """Returns tensors summed over all replicas; it must be called in a replica.

    Args:
        values: Tensors of this replica, nested or not.
    """
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return values
    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)
