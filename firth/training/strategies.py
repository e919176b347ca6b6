"""The strategies by which a training is divided among devices."""

import functools
import importlib.util
from collections.abc import Callable

import tensorflow as tf

from firth.recipes.training.training import Training
from firth.training.workers import ClusterError, Workers, check_cluster


class DeviceError(RuntimeError):
    """The devices that a recipe asks for are not available."""


def prepare_devices(training: Training, is_pipeline: bool = False) -> None:
    """Prepares the devices of a strategy; a process calls it before anything else touches TensorFlow.

    For `mirrored` these are logical CPUs, if there is no GPU. For `multi_worker_mirrored` and `tpu` it is the
    connection to the others: the call returns when all processes that TF_CONFIG lists are there.

    Args:
        training: Training of the recipe.
        is_pipeline: True if this process runs a whole pipeline, so that it cannot be one of several.

    Raises:
        DeviceError: if TensorFlow has already started with other devices, there is no TPU, or JAX is asked
            for and not installed.
        ClusterError: if TF_CONFIG cannot be read, or lists several processes for a pipeline, or for a
            strategy of one process.
    """
    _PREPARE[training.strategy](training, is_pipeline)
    if training.backend == "jax":
        _check_jax()
        _leave_accelerators()


def _check_jax() -> None:
    if importlib.util.find_spec("jax") is None:
        raise DeviceError(
            "training.backend: jax needs JAX, which is not installed here; install firth with its extra: "
            "pip install 'firth[jax]'"
        )


def _leave_accelerators() -> None:
    """Keeps TensorFlow on the CPU, since the memory of an accelerator is JAX's."""
    try:
        tf.config.set_visible_devices([], "GPU")
    except RuntimeError as error:
        raise DeviceError(
            "training.backend: jax: TensorFlow has already started on this machine's GPU; call "
            "firth.training.prepare_devices before any other use of TensorFlow"
        ) from error


def _prepare_one_process(training: Training, is_pipeline: bool) -> None:
    """Refuses several processes, each of which would make the whole training in the same folders."""
    try:
        processes = check_cluster()
    except ClusterError:
        # No part of this training reads TF_CONFIG; it may be meant for another program.
        return
    if processes > 1:
        raise ClusterError(
            f"TF_CONFIG lists {processes} processes, each of which would make the whole training with "
            f"training.strategy: {training.strategy}; use multi_worker_mirrored, or one process"
        )


def _prepare_mirrored(training: Training, is_pipeline: bool) -> None:
    _prepare_one_process(training, is_pipeline)
    wanted = training.replicas or 1
    if wanted == 1 or tf.config.list_physical_devices("GPU"):
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


def _prepare_workers(training: Training, is_pipeline: bool) -> None:
    processes = check_cluster()
    if is_pipeline and processes > 1:
        raise ClusterError(
            f"TF_CONFIG lists {processes} processes, but this one runs a whole pipeline; start "
            "`firth train-worker` in each, or let an orchestrator run the Trainer"
        )
    _multi_worker_mirrored()


def build_strategy(training: Training) -> tf.distribute.Strategy:
    """Returns the distribution strategy of a recipe.

    Args:
        training: Training of the recipe.

    Raises:
        DeviceError: if there are fewer devices than replicas, or the replicas do not divide the batch.
    """
    strategy = _BUILD[training.strategy](training)
    replicas, parts = strategy.num_replicas_in_sync, training.gradient_accumulation_steps
    for batch_size in training.batch_sizes:
        if batch_size % (replicas * parts):
            raise DeviceError(
                f"training.batch_size: {batch_size} cannot be divided among {replicas} replicas"
                + (f" in {parts} parts" if parts > 1 else "")
            )
    return strategy


def workers_of(training: Training) -> Workers:
    """Returns the processes of a training.

    Args:
        training: Training of the recipe.
    """
    return Workers(_BUILD[training.strategy](training))


def _build_mirrored(training: Training) -> tf.distribute.Strategy:
    kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
    devices = [device.name for device in tf.config.list_logical_devices(kind)]
    replicas = training.replicas or len(devices)
    if replicas > len(devices):
        raise DeviceError(
            f"training.replicas: {replicas}, but this machine has {len(devices)} {kind} devices"
        )
    return _mirrored(tuple(devices[:replicas]))


@functools.cache
def _mirrored(devices: tuple[str, ...]) -> tf.distribute.MirroredStrategy:
    """Returns the strategy of these devices, one for all models that a process trains.

    Two strategies give their collective ops the same numbers, and TensorFlow confuses them.
    """
    return tf.distribute.MirroredStrategy(list(devices))


@functools.cache
def _multi_worker_mirrored() -> tf.distribute.Strategy:
    """Returns the strategy of all processes and their devices; TensorFlow lets a process make one."""
    try:
        return tf.distribute.MultiWorkerMirroredStrategy()
    except RuntimeError as error:
        raise DeviceError(
            "training.strategy: multi_worker_mirrored: TensorFlow has already started in this process; call "
            "firth.training.prepare_devices before any other use of TensorFlow"
        ) from error


@functools.cache
def _tpu() -> tf.distribute.Strategy:
    """Returns the strategy of the TPU of this machine, or of the one that TPU_NAME names."""
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    except (ValueError, tf.errors.OpError) as error:
        raise DeviceError(
            f"training.strategy: tpu: no TPU can be reached from this process: {error}"
        ) from error
    strategy = tf.distribute.TPUStrategy(resolver)
    if (hosts := strategy.extended.num_hosts) > 1:
        raise DeviceError(
            f"training.strategy: tpu: this slice has {hosts} hosts, and rows are read by one process; take a "
            "slice of one host"
        )
    return strategy


# The latter two are strategies of JAX, whose steps another process makes.
_OF_ONE_DEVICE = ("none", "data_parallel", "model_parallel")
_PREPARE: dict[str, Callable[[Training, bool], object]] = {
    **dict.fromkeys(_OF_ONE_DEVICE, _prepare_one_process),
    "mirrored": _prepare_mirrored,
    "multi_worker_mirrored": _prepare_workers,
    "tpu": lambda training, is_pipeline: _tpu(),
}
_BUILD: dict[str, Callable[[Training], tf.distribute.Strategy]] = {
    **dict.fromkeys(_OF_ONE_DEVICE, lambda training: tf.distribute.get_strategy()),
    "mirrored": _build_mirrored,
    "multi_worker_mirrored": lambda training: _multi_worker_mirrored(),
    "tpu": lambda training: _tpu(),
}
