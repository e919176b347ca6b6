"""Copying a reference implementation's weights into ours, by the paths that ours have."""

import numpy as np

Weights = dict[str, np.ndarray]
# A kernel [inputs, outputs] and its bias [outputs], or None.
Linear = tuple[np.ndarray, np.ndarray | None]


def copy_weights(model, arrays: Weights) -> None:
    """Assigns every trainable weight of `model` by its path below the model; names and shapes must match."""
    weights = {weight.path.split("/", 1)[1]: weight for weight in model.trainable_variables}
    assert set(weights) == set(arrays), sorted(set(weights) ^ set(arrays))
    for path, weight in weights.items():
        assert tuple(weight.shape) == arrays[path].shape, path
        weight.assign(arrays[path])


def dense(path: str, linear: Linear) -> Weights:
    """A dense layer."""
    return _with_bias(path, "", *linear)


def norm(path: str, gamma, beta=None) -> Weights:
    """A layer norm; without `beta`, a root mean square norm."""
    return {f"{path}/scale": gamma} if beta is None else {f"{path}/gamma": gamma, f"{path}/beta": beta}


def attention(path: str, query: Linear, key: Linear, value: Linear, output: Linear, groups=None) -> Weights:
    """Self-attention; ours joins queries, keys and values.

    Args:
        path: Of the layer.
        query, key, value, output: The four projections.
        groups: With grouped queries, the heads of keys and values and the query heads of each. In ours
            neighbouring query heads read different heads of keys, in theirs the same.
    """
    if groups:
        query = tuple(_regroup(part, -1, groups) for part in query)
        output = (_regroup(output[0], 0, groups), output[1])
    return {**_with_bias(path, "", *_joined(query, key, value)), **dense(f"{path}/output", output)}


def cross_attention(path: str, query: Linear, key: Linear, value: Linear, output: Linear) -> Weights:
    """Attention to an encoder; ours joins keys and values."""
    keys = _with_bias(path, "", *_joined(key, value))
    return {**_with_bias(path, "query_", *query), **keys, **dense(f"{path}/output", output)}


def feed_forward(path: str, inner: Linear, outer: Linear, gate: Linear | None = None) -> Weights:
    """Two layers, and the activated one where there is a gate; ours holds the first ones transposed."""
    weights = _with_bias(path, "inner_", inner[0].T, inner[1]) | _with_bias(path, "outer_", *outer)
    return weights | (_with_bias(path, "gate_", gate[0].T, gate[1]) if gate else {})


def _with_bias(path: str, prefix: str, kernel, bias) -> Weights:
    weights = {f"{path}/{prefix}kernel": kernel}
    return weights if bias is None else {**weights, f"{path}/{prefix}bias": bias}


def _joined(*linears: Linear) -> Linear:
    kernels, biases = zip(*linears, strict=True)
    return np.concatenate(kernels, axis=1), None if biases[0] is None else np.concatenate(biases)


def _regroup(array, axis: int, groups: tuple[int, int]):
    """Reorders query heads along an axis, from those of a group together to one of each group together."""
    if array is None:
        return None
    last = np.moveaxis(array, axis, -1)
    heads = last.reshape(*last.shape[:-1], *groups, -1)
    return np.moveaxis(np.swapaxes(heads, -3, -2).reshape(last.shape), -1, axis)
