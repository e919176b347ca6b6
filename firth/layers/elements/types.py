"""What the arguments of layers are, for annotations."""

from typing import Any, TypeAlias

import keras

# A tensor of the backend, a symbolic one, or an array that becomes one.
Tensor: TypeAlias = Any
Shape: TypeAlias = tuple[int | None, ...]
# What a layer draws from; see `firth.layers.elements.seeds`.
Seed: TypeAlias = int | keras.random.SeedGenerator | None
