"""What the arguments of layers are, for annotations."""

from typing import Any, TypeAlias

import keras

# A tensor of the backend, a symbolic one, or an array that becomes one.
Tensor: TypeAlias = Any
# The length of each axis, an int, or None where it is not known before the call.
Shape: TypeAlias = tuple[Any, ...]
# What a layer draws from; see `firth.layers.elements.seeds`.
Seed: TypeAlias = int | keras.random.SeedGenerator | None
