"""The norms that a recipe may name."""

import keras

_KINDS = ("layer_norm", "rms_norm")


def build_norm(kind: str = "layer_norm", epsilon: float = 1e-12, biases: bool = True, dtype=None, name=None):
    """Returns a layer that normalises the last axis, in float32 under every dtype policy.

    Args:
        kind: `layer_norm` (Ba et al. 2016, "Layer Normalization"), with the weights `gamma` and, with biases,
            `beta`; or `rms_norm` (Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"), with the
            weight `scale`.
        epsilon: Added to the variance or to the mean square.
        biases: Whether a layer norm has an offset.
        dtype: A Keras dtype or policy.
        name: Of the layer.

    Raises:
        ValueError: if there is no norm of that kind.

    Example:

    >>> import numpy as np
    >>> [round(float(value), 4) for value in build_norm("rms_norm")(np.array([[3.0, 4.0]]))[0]]
    [0.8485, 1.1314]
    """
    if kind not in _KINDS:
        raise ValueError(f"`kind` of a norm must be one of {list(_KINDS)}. Received: kind={kind!r}")
    if kind == "rms_norm":
        return keras.layers.RMSNormalization(epsilon=epsilon, dtype=dtype, name=name)
    return keras.layers.LayerNormalization(epsilon=epsilon, center=biases, dtype=dtype, name=name)
