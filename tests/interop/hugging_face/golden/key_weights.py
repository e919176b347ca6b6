"""Weights that follow from their names and shapes, so that no file holds them."""

import zlib

import numpy as np


def weight_of(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Returns random weights; the scale of a norm is around one.

    Args:
        name: Name of the tensor.
        shape: Its shape.
    """
    is_scale = name.endswith("weight") and any(part in name.lower() for part in ("norm", ".ln_"))
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return (generator.standard_normal(tuple(shape)) * 0.3 + is_scale).astype("float32")
