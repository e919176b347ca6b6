"""Functions of rows that are made for some rows after another, of which nothing is kept for the gradient."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.elements.custom_gradient import as_tensor
from firth.layers.elements.rematerialisation import zero_after
from firth.layers.elements.types import Tensor

# What a function makes of the first row's place, of the place after the last row of its loop, of some rows,
# and of what all rows share.
OfRows = Callable[[Tensor, int, tuple[Tensor, ...], tuple[Tensor, ...]], Tensor]


def in_row_blocks(
    function: OfRows, rows: tuple[Tensor, ...], shared: tuple[Tensor, ...], size: int, loops: int = 1
) -> Tensor:
    """Returns what a function gives for all rows, which it gets in blocks, one after another in a loop.

    Each block is computed once more in the backward pass (Chen et al. 2016, "Training Deep Nets with
    Sublinear Memory Cost", section 4.1), so that what is held at once is what one block needs.

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
        # Exact as floats, which alone go into what is computed again.
        begins = np.arange(first, last, size, dtype="float32")
        start = ops.zeros_like(blocks[0][0])
        start = start + ops.cast(zero_after(made[-1]), start.dtype) if made else start
        step = _step(function, last, shared)
        _, found = ops.scan(step, start, (ops.convert_to_tensor(begins), *blocks))
        made.append(_joined(found))
    return made[0] if len(made) == 1 else ops.concatenate(made, axis=-2)


def _borders(count: int, size: int, loops: int) -> list[int]:
    """Returns where loops begin and end: all blocks of a loop have as many rows."""
    blocks = count // size
    whole = sorted({size * (blocks * each // loops) for each in range(loops + 1)})
    return whole if whole[-1] == count else [*whole, count]


def _split(rows: Tensor, cuts: list[int]) -> list[Tensor]:
    parts: list[Tensor] = ops.split(rows, cuts, axis=-2) if cuts else [rows]
    return parts


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
