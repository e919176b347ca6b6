"""Random bits of each example of a batch, whichever other examples are there."""

import contextlib
import contextvars

from keras import ops

# Odd numbers without a pattern; products of int32 wrap around.
_ELEMENT, _FIRST, _SECOND = -1640531527, 739982445, -1893793731
_CALL = (1663821211, 1481765933)
_PART = (-1253254571, 1500450271)
_UNIT_BITS = 24

_CURRENT: contextvars.ContextVar = contextvars.ContextVar("example_noise", default=None)


class ExampleNoise:
    """The random bits of one pass over a batch, a function of (an example's key, call, element).

    Examples of different keys are independent. So are the draws of a pass, which are counted as they are
    made: the same model draws in the same order on every device, and with every size of batch.

    Args:
        keys: int32 [batch, 2], two hashes, see `firth.features.noise_key_specs`.
    """

    def __init__(self, keys):
        self._keys = ops.cast(keys, "int32")
        self._calls = 0

    def draw_keys(self, parts=None):
        """Returns the keys of the next draw, a pair of int32 [batch, 1].

        Args:
            parts: Where the first axis does not hold examples but parts of some: a pair of int tensors [n],
                the example of each and its number in the example. The keys are [n, 1] then.
        """
        self._calls += 1
        pair = [self._keys[:, each : each + 1] + _wrap(self._calls * _CALL[each]) for each in (0, 1)]
        if parts is None:
            return tuple(pair)
        examples, numbers = (ops.cast(each, "int32") for each in parts)
        numbers = ops.expand_dims(numbers + 1, 1)
        return tuple(ops.take(key, examples, axis=0) + numbers * _PART[each] for each, key in enumerate(pair))

    def draw_uniform(self, count):
        """Returns float32 [batch, count] in [0, 1)."""
        words = random_words(self.draw_keys(), count)
        return ops.cast(ops.bitwise_and(words, 2**_UNIT_BITS - 1), "float32") / float(2**_UNIT_BITS)


def random_words(keys, count):
    """Returns random int32 [batch, count], of which every bit is as good as another.

    Two rounds of the finaliser of MurmurHash3 over the number of the element; the first key of the example
    goes in before the first round, the second one between both. A right shift of a negative int32 draws ones
    in; that is why a product comes last.

    Args:
        keys: A pair of int32 [batch, 1], as `ExampleNoise.draw_keys` returns it.
        count: An int, or a scalar tensor.

    Example:

    >>> import numpy as np
    >>> noise = ExampleNoise(np.array([[1, 2], [3, 4]]))
    >>> tuple(random_words(noise.draw_keys(), 5).shape)
    (2, 5)
    """
    first, second = keys
    words = ops.arange(count, dtype="int32") * _ELEMENT + first
    words = ops.bitwise_xor(words, ops.right_shift(words, 15)) * _FIRST + second
    return ops.bitwise_xor(words, ops.right_shift(words, 16)) * _SECOND


@contextlib.contextmanager
def example_noise(keys):
    """Makes what layers draw in the block follow from the examples, and not from a seed generator.

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


def current_noise() -> ExampleNoise | None:
    """Returns the noise of the batch that is being computed, None outside of `example_noise`."""
    return _CURRENT.get()


def _wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31
