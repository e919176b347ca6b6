"""The devices of a training on JAX, among which Keras's distribution divides rows and weights."""

import re
from collections.abc import Mapping
from typing import Any

import jax
import keras
import numpy as np
import numpy.typing as npt

from firth.layers.attention.fused_kernel import enable_flash_attention, offers_kernel
from firth.layers.elements.layer import divided_axes
from firth.models.builders import build_outline
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.training.training import Mesh, Training
from firth.training.strategies import DeviceError

# Axes of the mesh that divide the rows of a batch, and the weights.
_ROWS, _WEIGHTS = "batch", "model"


def use_devices(recipe: RunRecipe) -> None:
    """Makes the distribution of a recipe Keras's own, and its kernel; this comes before a model is made.

    Raises:
        DeviceError: if there are fewer devices than the recipe asks for, or they do not divide the batch,
            or if it asks for a kernel that they do not have.
    """
    training = recipe.training
    _use_kernel(training)
    keras.distribution.set_distribution(None)
    if training.strategy == "none":
        return
    keras.distribution.set_distribution(
        _data_parallel(training) if training.mesh is None else _model_parallel(recipe, training.mesh)
    )


def _use_kernel(training: Training) -> None:
    if training.flash_attention and not offers_kernel():
        devices = ", ".join(keras.distribution.list_devices())
        raise DeviceError(f"training.flash_attention: true needs GPUs, but JAX has {devices}")
    enable_flash_attention(training.flash_attention)


def _data_parallel(training: Training) -> keras.distribution.DataParallel:
    count = training.replicas or len(keras.distribution.list_devices())
    devices = _devices("replicas", count)
    parts = training.gradient_accumulation_steps
    for batch_size in training.batch_sizes:
        if batch_size % (count * parts):
            raise DeviceError(
                f"training.batch_size: {batch_size} cannot be divided among {count} replicas"
                + (f" in {parts} parts" if parts > 1 else "")
            )
    mesh = keras.distribution.DeviceMesh((count,), (_ROWS,), devices)
    return keras.distribution.DataParallel(device_mesh=mesh)


def _model_parallel(recipe: RunRecipe, mesh: Mesh) -> keras.distribution.ModelParallel:
    shape = mesh.data, mesh.model
    devices = _devices("mesh", mesh.data * mesh.model).reshape(shape)
    layouts = _layouts(recipe, keras.distribution.DeviceMesh(shape, (_ROWS, _WEIGHTS), devices))
    return keras.distribution.ModelParallel(layout_map=layouts, batch_dim_name=_ROWS)


def _devices(key: str, wanted: int) -> npt.NDArray[Any]:
    devices = keras.distribution.list_devices()
    if wanted > len(devices):
        raise DeviceError(
            f"training.{key}: {wanted} devices, but JAX has {len(devices)}: {', '.join(devices)}"
        )
    return np.array(devices[:wanted])


def _layouts(recipe: RunRecipe, mesh: keras.distribution.DeviceMesh) -> keras.distribution.LayoutMap:
    """Returns the layout of each weight that the model's layers divide."""
    layouts = keras.distribution.LayoutMap(mesh)
    for path, (axis, axes) in divided_axes(build_outline(recipe)).items():
        # Keys are read as regular expressions, which may match a part of another path.
        layouts[f"^{re.escape(path)}$"] = tuple(_WEIGHTS if each == axis else None for each in range(axes))
    return layouts


def replicas() -> int:
    """Returns the number of devices that the rows of a batch are divided among."""
    distribution = keras.distribution.distribution()
    return 1 if distribution is None else int(distribution.device_mesh.shape[0])


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
