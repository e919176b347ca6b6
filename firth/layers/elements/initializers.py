"""What weights start from."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy as np

from firth.layers.elements.seeds import drawn, truncated_normal
from firth.layers.elements.types import Shape, Tensor


def normal(
    stddev: float, generator: keras.random.SeedGenerator, truncated: bool = True
) -> keras.initializers.Initializer:
    """Returns a normal initializer; truncated, it redraws outside two standard deviations, as BERT's does."""
    if truncated:
        return truncated_normal(stddev, generator)
    return drawn(keras.initializers.RandomNormal(stddev=stddev, seed=generator))


def log_uniform(shape: Shape, dtype: Any = None) -> Tensor:
    """Returns the logarithms of the shares of words in the order of descending frequency, by Zipf's law.

    The share of the word at place `i`, from 0, is in proportion to `log(i + 2) - log(i + 1)`.

    Example:

    >>> shares = np.exp(np.array(log_uniform((3,), "float32")))
    >>> [round(float(each), 3) for each in shares]
    [0.5, 0.292, 0.208]
    """
    (words,) = shape
    shares = np.log1p(1 / np.arange(1, words + 1)) / np.log(words + 1)
    return keras.ops.convert_to_tensor(np.log(shares), dtype=dtype)


class NormalColumns(keras.initializers.Initializer):
    """A normal with a standard deviation for each run of columns, for a kernel that joins several.

    Example:

    >>> from firth.layers.elements.seeds import seed_generator
    >>> drawn = np.array(NormalColumns([(3, 0.0), (1, 2.0)], seed_generator(1))((1000, 4)))
    >>> [float(drawn[:, 0].std()), 1.9 < float(drawn[:, 3].std()) < 2.1]
    [0.0, True]
    """

    def __init__(self, runs: Iterable[Iterable[Any]], generator: keras.random.SeedGenerator) -> None:
        self.runs = [tuple(run) for run in runs]
        self.seed = generator

    def __call__(self, shape: Shape, dtype: Any = None) -> Tensor:
        """Returns a tensor [rows, columns of all runs]."""
        stddevs = np.concatenate([np.full(columns, stddev) for columns, stddev in self.runs])
        drawn = keras.random.normal(shape, dtype=dtype, seed=self.seed)
        return drawn * keras.ops.cast(stddevs, drawn.dtype)
