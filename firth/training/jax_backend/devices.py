"""The devices of a training on JAX, among which Keras's distribution divides rows."""

from collections.abc import Mapping
from typing import Any

import jax
import keras
import numpy as np
import numpy.typing as npt

from firth.recipes.training.training import Training
from firth.training.distribution import DeviceError

_ROWS = "batch"


def use_devices(training: Training) -> None:
    """Makes the distribution of a recipe Keras's own; this comes before a model is made.

    Args:
        training: Training of the recipe.

    Raises:
        DeviceError: if there are fewer devices than the recipe asks for, or they do not divide the batch.
    """
    if training.strategy == "none":
        keras.distribution.set_distribution(None)
        return
    devices = keras.distribution.list_devices()
    replicas = training.replicas or len(devices)
    if replicas > len(devices):
        raise DeviceError(
            f"training.replicas: {replicas}, but JAX has {len(devices)} devices: {', '.join(devices)}"
        )
    for batch_size in training.batch_sizes:
        if batch_size % replicas:
            raise DeviceError(
                f"training.batch_size: {batch_size} cannot be divided among {replicas} replicas"
            )
    mesh = keras.distribution.DeviceMesh((replicas,), (_ROWS,), np.array(devices[:replicas]))
    keras.distribution.set_distribution(keras.distribution.DataParallel(device_mesh=mesh))


def place_batches(stacked: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """Returns arrays on the devices, their rows divided among the replicas.

    Args:
        stacked: Features [steps, rows, ...] by name.
    """
    distribution = keras.distribution.distribution()
    if distribution is None:
        return dict(stacked)
    placed = {}
    for name, value in stacked.items():
        axes = (None, _ROWS, *(None for _ in value.shape[2:]))
        layout = keras.distribution.TensorLayout(axes, distribution.device_mesh)
        placed[name] = jax.device_put(value, layout.backend_layout)
    return placed
