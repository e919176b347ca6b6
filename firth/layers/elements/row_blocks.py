"""Functions applied to blocks of rows one after another, which keep nothing for the gradient."""

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.custom_gradient import as_tensor
from firth.layers.elements.dropout import Dropout, keep_by_example, threshold_by_example
from firth.layers.elements.noise import (
    ExampleNoise,
    bits_as,
    current_noise,
    drawn_keys,
    halves_of,
    keys_of_parts,
    numbers_at,
    random_words_at,
    words_of,
)
from firth.layers.elements.rematerialisation import zero_after
from firth.layers.elements.types import Tensor

# A function of the first row's place, of the place after the last row of its loop, of some rows, and of
# tensors that all rows share.
OfRows = Callable[[Tensor, int, tuple[Tensor, ...], tuple[Tensor, ...]], Tensor]


def in_row_blocks(
    function: OfRows, rows: tuple[Tensor, ...], shared: tuple[Tensor, ...], size: int, loops: int = 1
) -> Tensor:
    """Applies a function to all rows, in blocks, one after another in a loop.

    Each block is computed once more in the backward pass (Chen et al. 2016, "Training Deep Nets with
    Sublinear Memory Cost", section 4.1), so that only the tensors of one block are held at once.

    No block starts before the one before it has ended, which TensorFlow's executor would not see to: its rows
    get a zero added that is known only then, and in the backward pass the gradient of that zero.

    Args:
        function: Function of the place of the first row of a block, an int scalar tensor, of the place after
            the last row of its loop, an int, of the block's rows, and of what is shared, which returns a
            tensor of the shape and dtype of the first of the rows. It has no other inputs that need a
            gradient; what it reads besides is made before all blocks and held.
        rows: Float tensors [..., count, columns], with as many rows, a static number.

    Returns:
        A float tensor [..., count, columns].

    Example:

    >>> import numpy as np
    >>> rows, factor = np.array([[1.0], [2.0], [3.0]]), np.array(2.0)
    >>> doubled = in_row_blocks(lambda begin, end, own, shared: own[0] * shared[0], (rows,), (factor,), 2)
    >>> np.array(doubled)[:, 0].tolist()
    [2.0, 4.0, 6.0]
    """
    rows, shared = (tuple(as_tensor(each) for each in tensors) for tensors in (rows, shared))
    borders = _borders(rows[0].shape[-2], size, loops)
    # The gradient of a split is one concatenation.
    parts = zip(*(_split(each, borders[1:-1]) for each in rows))
    made: list[Tensor] = []
    for first, last, own in zip(borders, borders[1:], parts):
        blocks = tuple(_blocks(each, min(size, last - first)) for each in own)
        # Exact as floats; a function that is computed again takes floats alone.
        begins = np.arange(first, last, size, dtype="float32")
        start = ops.zeros_like(blocks[0][0])
        start = start + ops.cast(zero_after(made[-1]), start.dtype) if made else start
        step = _step(function, last, shared)
        _, found = ops.scan(step, start, (ops.convert_to_tensor(begins), *blocks))
        made.append(_joined(found))
    return made[0] if len(made) == 1 else ops.concatenate(made, axis=-2)


def _borders(count: int, size: int, loops: int) -> list[int]:
    """Returns the borders of loops: all blocks of a loop have as many rows."""
    blocks = count // size
    whole = sorted({size * (blocks * each // loops) for each in range(loops + 1)})
    return whole if whole[-1] == count else [*whole, count]


def _split(rows: Tensor, cuts: list[int]) -> list[Tensor]:
    return ops.split(rows, cuts, axis=-2) if cuts else [rows]


def _step(function: OfRows, end: int, shared: tuple[Tensor, ...]) -> Callable[..., tuple[Tensor, Tensor]]:
    def run(before: Tensor, begin: Tensor, *tensors: Tensor) -> Tensor:
        after = zero_after(before)
        count = len(tensors) - len(shared)
        own = tuple(each + ops.cast(after, each.dtype) for each in tensors[:count])
        begin = ops.cast(begin + ops.stop_gradient(after[0]), "int32")
        return function(begin, end, own, tensors[count:])

    def step(before: Tensor, now: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        block = keras.remat(run)(before, *now, *shared)
        return block, block

    return step


def _blocks(rows: Tensor, size: int) -> Tensor:
    """Returns rows [..., count, columns] as blocks [count / size, ..., size, columns]."""
    shape: tuple[Any, ...] = ops.shape(rows)
    axes = len(shape)
    apart = ops.reshape(rows, (*shape[:-2], shape[-2] // size, size, shape[-1]))
    return ops.transpose(apart, (axes - 2, *range(axes - 2), axes - 1, axes))


def _joined(blocks: Tensor) -> Tensor:
    """Returns the rows that were blocks."""
    shape: tuple[Any, ...] = ops.shape(blocks)
    axes = len(shape)
    rows = ops.transpose(blocks, (*range(1, axes - 2), 0, axes - 2, axes - 1))
    return ops.reshape(rows, (*shape[1:-2], shape[0] * shape[-2], shape[-1]))


# Bytes of a random word, each of which decides for an element.
_BYTES = 4


class RowDropout:
    """The draws of a dropout for matrices [batch, heads, rows, columns], made only where a block needs them.

    With keys of examples (see `firth.layers.elements.noise`) each element is dropped or kept as `Dropout`
    has it where all are made at once.

    Attributes:
        tensors: Arguments of a function of a block: keys as float32 [batch, 4]; none where dropout does not
            act.

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
        """Returns the factors of a block, [batch, heads, rows, columns]; None where dropout does not act."""
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
        found = bits_as(words, "uint8")
        if rest == 0 and isinstance(first, int):
            random = found[:, :, first % _BYTES : first % _BYTES + columns]
        else:
            random = _from_byte(found, bytes_before % _BYTES, columns)
        threshold = ops.expand_dims(threshold_by_example(keys[1], self._rate), 2)
        keep = ops.reshape(ops.greater_equal(random, threshold), (-1, heads, rows, columns))
        return self._scaled(keep, dtype)

    def of_parts(self, tensors: tuple[Tensor, ...], values: Tensor, parts: tuple[Tensor, Tensor]) -> Tensor:
        """Applies the dropout to parts of examples, as `Dropout` does.

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
