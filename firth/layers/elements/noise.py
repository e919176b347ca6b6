"""Random bits of each example of a batch, whichever other examples are there."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.types import Seed, Tensor

# Odd numbers without a pattern; products wrap around.
_ELEMENT, _FIRST, _SECOND = 2654435769, 739982445, 2401173565
_CALL = (1663821211, 1481765933)
_PART = (3041712725, 1500450271)
_UNIT_BITS = 24
# TensorFlow multiplies int32 on the host, even where there is a GPU; torch multiplies no uint32. The bits are
# the same.
_SIGNED = keras.backend.backend() == "torch"
_DTYPE = "int32" if _SIGNED else "uint32"

_CURRENT: contextvars.ContextVar["ExampleNoise | None"] = contextvars.ContextVar(
    "example_noise", default=None
)


class ExampleNoise:
    """The random bits of one pass over a batch, a function of (an example's key, call, element).

    Examples of different keys are independent. So are the draws of a pass, which are counted as they are
    made: the same model draws in the same order on every device, and with every size of batch.

    Args:
        keys: int32 [batch, 2], two hashes, see `firth.features.NOISE_KEYS`.
    """

    def __init__(self, keys: Tensor, calls: int = 0) -> None:
        self._keys = _words(keys)
        self.calls = calls

    def halves(self) -> Tensor:
        """Returns the keys as floats, which a function can take that has gradients: float32 [batch, 4]."""
        return halves_of(self._keys)

    def draw_keys(self, parts: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
        """Returns the keys of the next draw, a pair of tensors [batch, 1] of 32-bit words.

        Args:
            parts: Pair of int tensors [n], the example of each part and its number in the example, where the
                first axis holds parts of examples; the keys are [n, 1] then. None where it holds examples.
        """
        self.calls += 1
        pair = [self._keys[:, each : each + 1] + _word(self.calls * _CALL[each]) for each in (0, 1)]
        return tuple(pair) if parts is None else keys_of_parts(tuple(pair), parts)

    def draw_uniform(self, count: Tensor | int) -> Tensor:
        """Returns float32 [batch, count] in [0, 1)."""
        return unit_floats(random_words(self.draw_keys(), count))


def keys_of_parts(keys: tuple[Tensor, ...], parts: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    """Returns the keys of parts of examples, a pair of tensors [n, 1] of 32-bit words.

    Args:
        keys: Pair of tensors [batch, 1] of 32-bit words.
    """
    examples, numbers = (ops.cast(each, "int32") for each in parts)
    numbers = _words(ops.expand_dims(numbers + 1, 1))
    return tuple(
        ops.take(key, examples, axis=0) + numbers * _word(_PART[each]) for each, key in enumerate(keys)
    )


def halves_of(words: Tensor) -> Tensor:
    """Returns 32-bit words [batch, count] as floats, which a function can take that has gradients.

    Args:
        words: Words, int32 or uint32 [batch, count].

    Returns:
        float32 [batch, 2 count], the lower 16 bits of all and then the upper ones.
    """
    words = _words(words)
    low = ops.bitwise_and(words, _word(2**16 - 1))
    return ops.cast(ops.concatenate([low, shift_right(words, 16)], axis=1), "float32")


def words_of(halves: Tensor) -> Tensor:
    """Returns the 32-bit words [batch, count] that `halves_of` made floats of.

    Args:
        halves: float32 [batch, 2 count].

    Example:

    >>> import numpy as np
    >>> np.array(words_of(halves_of(np.array([[70_000, 3]])))).tolist()
    [[70000, 3]]
    """
    low, high = (ops.cast(each, "int32") for each in ops.split(halves, 2, axis=1))
    return _words(ops.bitwise_or(low, ops.left_shift(high, 16)))


def drawn_keys(batch: Tensor | int, seed: Seed) -> Tensor:
    """Returns keys of examples that have none, int32 [batch, 2]."""
    return keras.random.randint((batch, 2), -(2**31), 2**31 - 1, dtype="int32", seed=seed)


def batch_keys(seed: Seed) -> tuple[Tensor, Tensor]:
    """Returns the keys of a draw that a whole batch shares, a pair of tensors [1, 1] of 32-bit words.

    The same seed gives the same keys on every backend, other than `keras.random`'s functions.

    Example:

    >>> [tuple(key.shape) for key in batch_keys(7)]
    [(1, 1), (1, 1)]
    """
    return keys_of_pair(seed.next() if isinstance(seed, keras.random.SeedGenerator) else np.array([seed, 0]))


def keys_of_pair(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the keys of a draw that two numbers tell, a pair of tensors [1, 1] of 32-bit words.

    They may be counted: pairs that follow each other give keys that differ in all bits.

    Example:

    >>> import numpy as np
    >>> all(np.array(keys_of_pair(np.array([7, 0]))) == np.array(batch_keys(7)))
    True
    """
    words = ops.reshape(_words(numbers), (2, 1, 1))
    first, second = (
        words[0] * _word(_CALL[each]) + words[1] * _word(_PART[each]) + _word(_ELEMENT) for each in (0, 1)
    )
    return _mixed(first), _mixed(second)


def _mixed(words: Tensor) -> Tensor:
    words = ops.bitwise_xor(words, shift_right(words, 15)) * _word(_FIRST)
    return ops.bitwise_xor(words, shift_right(words, 16)) * _word(_SECOND)


def unit_floats(words: Tensor) -> Tensor:
    """Returns random words as float32 in [0, 1), of the same shape."""
    return ops.cast(ops.bitwise_and(words, _word(2**_UNIT_BITS - 1)), "float32") / float(2**_UNIT_BITS)


def random_words(keys: tuple[Tensor, ...], count: Tensor | int) -> Tensor:
    """Returns random words of 32 bits [batch, count], of which every bit is as good as another.

    Two rounds of the finaliser of MurmurHash3 over the number of the element; the first key of the example
    goes in before the first round, the second one between both.

    Args:
        keys: A pair of tensors [batch, 1], as `ExampleNoise.draw_keys` returns it.

    Example:

    >>> import numpy as np
    >>> noise = ExampleNoise(np.array([[1, 2], [3, 4]]))
    >>> tuple(random_words(noise.draw_keys(), 5).shape)
    (2, 5)
    """
    first, second = keys
    return _random(_words(ops.arange(count, dtype="int32")) * _word(_ELEMENT) + first, second)


def random_words_at(keys: tuple[Tensor, ...], starts: Tensor, count: int) -> Tensor:
    """Returns runs of the words that `random_words` returns, [batch, runs, count].

    Args:
        keys: A pair of tensors [batch, 1], as `ExampleNoise.draw_keys` returns it.

    Example:

    >>> import numpy as np
    >>> keys = ExampleNoise(np.array([[1, 2]])).draw_keys()
    >>> found = random_words_at(keys, numbers_at(np.array([1, 0]), 3), 2)
    >>> np.array(found)[0].ravel().tolist() == np.array(random_words(keys, 5))[0, [3, 4, 0, 1]].tolist()
    True
    """
    first, second = (ops.expand_dims(key, 2) for key in keys)
    of_runs = ops.reshape(starts * _word(_ELEMENT), (1, -1, 1))
    of_words = (np.arange(count) * _ELEMENT % 2**32).astype("uint32").view(_DTYPE)
    # The keys come in before all numbers are there, so that these follow from the keys.
    return _random(first + of_runs + of_words, second)


def numbers_at(rows: Tensor, width: int) -> Tensor:
    """Returns the numbers of the words that rows of words begin with, as words: large ones wrap around."""
    return _words(rows) * _word(width)


def _random(words: Tensor, second: Tensor) -> Tensor:
    words = ops.bitwise_xor(words, shift_right(words, 15)) * _word(_FIRST) + second
    return ops.bitwise_xor(words, shift_right(words, 16)) * _word(_SECOND)


def shift_right(words: Tensor, places: int) -> Tensor:
    """Returns words shifted by a number of places, with zeros drawn in.

    Args:
        words: Tensor of 32-bit words of any shape, int32 or uint32 as `random_words` returns them.
    """
    shifted = ops.right_shift(words, _word(places))
    return ops.bitwise_and(shifted, _word(2 ** (32 - places) - 1)) if _SIGNED else shifted


@contextlib.contextmanager
def example_noise(keys: Tensor | None) -> Iterator[None]:
    """Makes the draws of layers in the block follow from the examples, not from a seed generator.

    Args:
        keys: int32 [batch, 2], or None, with which nothing changes.

    Example:

    >>> import numpy as np
    >>> with example_noise(np.array([[1, 2]])):
    ...     current_noise() is None
    False
    """
    token = _CURRENT.set(None if keys is None else ExampleNoise(keys))
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextlib.contextmanager
def repeated_noise(noise: ExampleNoise, halves: Tensor, calls: int) -> Iterator[None]:
    """Lets layers in the block repeat the draws of some noise after some calls.

    Args:
        halves: float32 [batch, 4] that its `halves` returned.

    Example:

    >>> import numpy as np
    >>> with example_noise(np.array([[70_000, -2]])):
    ...     noise = current_noise()
    ...     halves = noise.halves()
    ...     once = float(noise.draw_uniform(1)[0, 0])
    >>> with repeated_noise(noise, halves, calls=0):
    ...     once == float(current_noise().draw_uniform(1)[0, 0])
    True
    """
    made = ExampleNoise(words_of(halves), calls)
    token = _CURRENT.set(made)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        noise.calls = max(noise.calls, made.calls)


def current_noise() -> ExampleNoise | None:
    """Returns the noise of the batch that is being computed, None outside of `example_noise`."""
    return _CURRENT.get()


def bits_as(values: Tensor, dtype: str) -> Tensor:
    """Returns the bits of integers as another type; a smaller one makes the last axis longer.

    Example:

    >>> np.array(bits_as(np.array([[258, 3]], "int32"), "uint8")).tolist()
    [[2, 1, 0, 0, 3, 0, 0, 0]]
    """
    if values.shape and values.shape[-1] is None:
        # Keras views no axis of unknown length, as where TensorFlow has traced batches of several sizes.
        shape = ops.shape(values)
        parts = ops.view(ops.expand_dims(values, -1), dtype=dtype)
        return ops.reshape(parts, (*shape[:-1], shape[-1] * parts.shape[-1]))
    return ops.view(values, dtype=dtype)


def _words(values: Tensor) -> Tensor:
    """Returns int32 as words of 32 bits."""
    values = ops.cast(values, "int32")
    return values if _SIGNED else bits_as(values, _DTYPE)


def _word(value: int) -> Any:
    """Returns the lowest 32 bits of an integer."""
    return np.array(value % 2**32, "uint32").view(_DTYPE)
