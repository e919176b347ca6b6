"""The devices of a training, and the division of batches among them."""

import functools
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from firth.recipes.training.training import Training


class DeviceError(RuntimeError):
    """The devices that a recipe asks for are not available."""


def prepare_devices(training: Training) -> None:
    """Makes logical CPUs if `mirrored` asks for several replicas and there is no GPU.

    TensorFlow fixes its devices when it first runs an op, so this comes first in a process.

    Args:
        training: Training of the recipe.

    Raises:
        DeviceError: if TensorFlow has already started with fewer.
    """
    wanted = training.replicas or 1
    if training.strategy != "mirrored" or wanted == 1 or tf.config.list_physical_devices("GPU"):
        return
    cpu = tf.config.list_physical_devices("CPU")[0]
    existing = tf.config.get_logical_device_configuration(cpu) or []
    if len(existing) >= wanted:
        return
    try:
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * wanted)
    except RuntimeError as error:
        raise DeviceError(
            f"training.replicas: {wanted} needs {wanted} logical CPUs, but TensorFlow has already started in "
            "this process; call firth.training.prepare_devices before any other use of TensorFlow"
        ) from error


def build_strategy(training: Training) -> tf.distribute.Strategy:
    """Returns the distribution strategy of a recipe.

    Args:
        training: Training of the recipe.

    Raises:
        DeviceError: if there are fewer devices than replicas, or the replicas do not divide the batch.
    """
    if training.strategy == "none":
        return tf.distribute.get_strategy()
    kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
    devices = [device.name for device in tf.config.list_logical_devices(kind)]
    replicas = training.replicas or len(devices)
    if replicas > len(devices):
        raise DeviceError(
            f"training.replicas: {replicas}, but this machine has {len(devices)} {kind} devices"
        )
    for batch_size in training.batch_sizes:
        if batch_size % replicas:
            raise DeviceError(
                f"training.batch_size: {batch_size} cannot be divided among {replicas} replicas; "
                "set training.replicas"
            )
    return _mirrored(tuple(devices[:replicas]))


@functools.cache
def _mirrored(devices: tuple[str, ...]) -> tf.distribute.MirroredStrategy:
    """Returns the strategy of these devices, one for all models that a process trains.

    Two strategies number their collective ops alike, and TensorFlow takes those of both for the same.
    """
    return tf.distribute.MirroredStrategy(list(devices))


def distribute(strategy: tf.distribute.Strategy, batches: tf.data.Dataset) -> Iterable[Any]:
    """Returns an iterable of `batches` in which each is divided among the replicas, in order.

    Args:
        strategy: Distribution strategy.
        batches: Batches of all replicas together.
    """
    if strategy.num_replicas_in_sync == 1:
        return batches
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return strategy.experimental_distribute_dataset(batches.with_options(options))


def gather_values(strategy: tf.distribute.Strategy, value: Any) -> tf.Tensor:
    """Returns a value that `distribute` divided as one tensor again.

    Args:
        strategy: Distribution strategy.
        value: Value of each replica.
    """
    return tf.concat(strategy.experimental_local_results(value), axis=0)


def sum_over_replicas(values: tf.Tensor) -> tf.Tensor:
    """Returns tensors summed over all replicas; it must be called in a replica.

    Args:
        values: Tensors of this replica, nested or not.
    """
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return values
    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)
