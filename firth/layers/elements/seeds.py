"""Seeds of layers, and the initial values of their weights."""

import contextlib
import contextvars
from collections.abc import Iterable, Iterator
from typing import Any

import keras
import numpy as np

from firth.layers.elements.types import Seed, Shape, Tensor

_DRAWS = contextvars.ContextVar("draws", default=True)


def seed_generator(seed: Seed = None) -> keras.random.SeedGenerator:
    """Returns the generator that a layer and its parts draw from, for initial weights and for dropout.

    Its state is one int variable of shape `[2]`, (seed, draws so far), and is one of `layer.variables`. A
    training loop that saves this variable, or assigns it from its seed and step, repeats a run exactly.

    Example:

    >>> shared = seed_generator(7)
    >>> seed_generator(shared) is shared
    True
    """
    if isinstance(seed, keras.random.SeedGenerator):
        return seed
    return keras.random.SeedGenerator(seed)


def plain_seed(seed: Seed) -> int | None:
    """Returns `seed` as a layer's config keeps it: an int, or None where it is shared or chosen by Keras."""
    return seed if isinstance(seed, int) else None


def normal(
    stddev: float, generator: keras.random.SeedGenerator, truncated: bool = True
) -> keras.initializers.Initializer:
    """Returns a normal initializer; truncated, it redraws outside two standard deviations, as BERT's does."""
    if truncated:
        return truncated_normal(stddev, generator)
    return drawn(keras.initializers.RandomNormal(stddev=stddev, seed=generator))


def truncated_normal(stddev: float, generator: keras.random.SeedGenerator) -> keras.initializers.Initializer:
    """Returns BERT's weight initializer: a normal of `stddev`, redrawn outside two standard deviations."""
    return drawn(keras.initializers.TruncatedNormal(stddev=stddev, seed=generator))


def uniform(bound: float, generator: keras.random.SeedGenerator) -> keras.initializers.Initializer:
    """Returns an initializer that draws uniformly from `-bound` to `bound`."""
    return drawn(keras.initializers.RandomUniform(-bound, bound, seed=generator))


class NormalColumns(keras.initializers.Initializer):
    """A normal with a standard deviation for each run of columns, for a kernel that joins several.

    Example:

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


def drawn(initializer: keras.initializers.Initializer) -> keras.initializers.Initializer:
    """Returns an initializer that draws; inside `undrawn`, one that gives zeros."""
    return initializer if _DRAWS.get() else _Undrawn(initializer.seed)


@contextlib.contextmanager
def undrawn() -> Iterator[None]:
    """Lets layers that are built in this context start from zeros: their weights are assigned afterwards.

    Example:

    >>> with undrawn():
    ...     start = truncated_normal(0.02, seed_generator(1))
    >>> keras.ops.convert_to_numpy(start((2,))).tolist()
    [0.0, 0.0]
    """
    token = _DRAWS.set(False)
    try:
        yield
    finally:
        _DRAWS.reset(token)


class _Undrawn(keras.initializers.Zeros):
    """Zeros with the generator that would have drawn, which layers share."""

    def __init__(self, seed: keras.random.SeedGenerator) -> None:
        self.seed = seed
