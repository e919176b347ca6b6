"""One source of randomness for a layer and all of its parts."""

import contextlib
import contextvars
from collections.abc import Iterator

import keras

from firth.layers.elements.types import Seed

_DRAWS = contextvars.ContextVar("draws", default=True)


def seed_generator(seed: Seed = None) -> keras.random.SeedGenerator:
    """Returns the generator that a layer and its parts draw from, for initial weights and for dropout.

    Its state is one int variable of shape `[2]`, (seed, draws so far), and stands in `layer.variables`. A
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


def truncated_normal(stddev: float, generator: keras.random.SeedGenerator) -> keras.initializers.Initializer:
    """Returns BERT's weight initializer: a normal of `stddev`, redrawn outside two standard deviations."""
    return drawn(keras.initializers.TruncatedNormal(stddev=stddev, seed=generator))


def drawn(initializer: keras.initializers.Initializer) -> keras.initializers.Initializer:
    """Returns an initializer that draws, or zeros where nothing shall be drawn."""
    return initializer if _DRAWS.get() else _Undrawn(initializer.seed)


class _Undrawn(keras.initializers.Zeros):
    """Zeros that know the generator of what is not drawn, which layers share by it."""

    def __init__(self, seed: keras.random.SeedGenerator) -> None:
        self.seed = seed


@contextlib.contextmanager
def undrawn() -> Iterator[None]:
    """Lets layers that are made and built meanwhile start from zeros: their weights are assigned afterwards.

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
