"""Dropout of matrices that are made in blocks: a block's part of what a whole matrix would get."""

import math

import numpy as np
from keras import ops

from firth.layers.elements.dropout import Dropout, keep_by_example, threshold_by_example
from firth.layers.elements.noise import (
    ExampleNoise,
    current_noise,
    drawn_keys,
    halves_of,
    keys_of_parts,
    numbers_at,
    random_words_at,
    words_of,
)
from firth.layers.elements.types import Tensor

# Bytes of a random word, each of which decides for an element.
_BYTES = 4


class RowDropout:
    """What a dropout draws for matrices [batch, heads, rows, columns], known only where a block needs it.

    With keys of examples (see `firth.layers.elements.noise`) each element is dropped or kept as `Dropout`
    has it where all are made at once.

    Attributes:
        tensors: What a function of a block has to be given: keys as float32 [batch, 4]; nothing where
            dropout does not act.

    Example:

    >>> import numpy as np
    >>> from firth.layers.elements.noise import example_noise
    >>> dropout = Dropout(0.5)
    >>> with example_noise(np.array([[1, 2]])):
    ...     whole = np.array(dropout.factors((1, 2, 4, 4), training=True))
    >>> with example_noise(np.array([[1, 2]])):
    ...     rows = RowDropout(dropout, batch=1, training=True)
    >>> part = rows.factors(rows.tensors, (2, 4, 4), firsts=(1, 0), sizes=(2, 3), dtype="float32")
    >>> bool((np.array(part) == whole[:, :, 1:3, :3]).all())
    True
    """

    def __init__(self, dropout: Dropout, batch: Tensor | int, training: bool | None) -> None:
        self._rate = dropout.rate
        self.tensors: tuple[Tensor, ...] = ()
        if training and dropout.rate:
            noise = current_noise() or ExampleNoise(drawn_keys(batch, dropout.seed_generator))
            self.tensors = (halves_of(ops.concatenate(noise.draw_keys(), axis=1)),)

    def factors(
        self,
        tensors: tuple[Tensor, ...],
        shape: tuple[int, int, int],
        firsts: tuple[Tensor | int, Tensor | int],
        sizes: tuple[int, int],
        dtype: str,
    ) -> Tensor | None:
        """Returns what a block is multiplied by, [batch, heads, rows, columns] of it; None for nothing."""
        if not tensors:
            return None
        heads, length, width = shape
        (begin, first), (rows, columns) = firsts, sizes
        keys = _keys(tensors)
        # Numbers of the block's rows among those of all heads, of the words that they begin with in the
        # block, and of bytes before.
        of_heads = np.arange(heads, dtype="int32")[:, np.newaxis] * length
        numbers = ops.reshape(of_heads + np.arange(rows, dtype="int32") + begin, (-1,))
        whole, rest = divmod(width, _BYTES)
        bytes_before = numbers * rest + first
        starts = numbers_at(numbers, whole) + numbers_at(bytes_before // _BYTES, 1)
        words = random_words_at(keys, starts, -(-(columns + _BYTES - 1) // _BYTES))
        found = ops.view(words, dtype="uint8")
        if rest == 0 and isinstance(first, int):
            random = found[:, :, first % _BYTES : first % _BYTES + columns]
        else:
            random = _from_byte(found, bytes_before % _BYTES, columns)
        threshold = ops.expand_dims(threshold_by_example(keys[1], self._rate), 2)
        keep = ops.reshape(ops.greater_equal(random, threshold), (-1, heads, rows, columns))
        return self._scaled(keep, dtype)

    def of_parts(self, tensors: tuple[Tensor, ...], values: Tensor, parts: tuple[Tensor, Tensor]) -> Tensor:
        """Returns parts of examples of which dropout has set elements to zero, as `Dropout` does.

        Args:
            values: Float tensor [n, ...].
        """
        if not tensors:
            return values
        keys = keys_of_parts(_keys(tensors), parts)
        shape = ops.shape(values)
        keep = keep_by_example(shape, 0, keys, self._rate, math.prod(shape[1:]))
        return values * self._scaled(keep, values.dtype)

    def _scaled(self, keep: Tensor, dtype: str) -> Tensor:
        return ops.cast(keep, dtype) * (1.0 / (1.0 - self._rate))


def _keys(tensors: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    words = words_of(tensors[0])
    return words[:, :1], words[:, 1:]


def _from_byte(found: Tensor, skipped: Tensor, count: int) -> Tensor:
    """Returns `count` bytes of each run [batch, runs, bytes], after those that it skips, [runs]."""
    skipped = ops.reshape(skipped, (1, -1, 1))
    random = found[:, :, :count]
    for each in range(1, _BYTES):
        random = ops.where(ops.equal(skipped, each), found[:, :, each : each + count], random)
    return random
