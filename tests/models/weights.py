"""Copying a reference implementation's weights into ours."""

import numpy as np


def copy_weights(model, arrays: dict[str, np.ndarray]) -> None:
    """Assigns every trainable weight of `model` by its path below the model; names and shapes must match."""
    weights = {weight.path.split("/", 1)[1]: weight for weight in model.trainable_variables}
    assert set(weights) == set(arrays)
    for path, weight in weights.items():
        assert tuple(weight.shape) == arrays[path].shape, path
        weight.assign(arrays[path])


def dense(path: str, kernel, bias) -> dict[str, np.ndarray]:
    """A kernel [inputs, outputs] and its bias."""
    return {f"{path}/kernel": kernel, f"{path}/bias": bias}


def norm(path: str, gamma, beta) -> dict[str, np.ndarray]:
    return {f"{path}/gamma": gamma, f"{path}/beta": beta}


def attention(path: str, query, key, value, output) -> dict[str, np.ndarray]:
    """Four (kernel [width, width], bias [width]); ours joins the first three."""
    kernels, biases = zip(query, key, value)
    joined = dense(path, np.concatenate(kernels, axis=1), np.concatenate(biases))
    return {**joined, **dense(f"{path}/output", *output)}


def feed_forward(path: str, inner, outer) -> dict[str, np.ndarray]:
    """Two (kernel [inputs, outputs], bias); ours holds the first kernel transposed."""
    return {
        f"{path}/inner_kernel": inner[0].T,
        f"{path}/inner_bias": inner[1],
        f"{path}/outer_kernel": outer[0],
        f"{path}/outer_bias": outer[1],
    }
