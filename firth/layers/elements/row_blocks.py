"""Functions of rows that are made for some rows after another, of which nothing is kept for the gradient."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import as_tensor
from firth.layers.elements.rematerialisation import zero_after
from firth.layers.elements.types import Tensor

# What a function makes of the first row's place, of some rows, and of what all rows share.
OfRows = Callable[[int, tuple[Tensor, ...], tuple[Tensor, ...]], Tensor]


def in_row_blocks(
    function: OfRows, rows: tuple[Tensor, ...], shared: tuple[Tensor, ...], size: int
) -> Tensor:
    """Returns what a function gives for all rows, which it gets in blocks, one after another.

    Each block is computed once more in the backward pass (Chen et al. 2016, "Training Deep Nets with
    Sublinear Memory Cost", section 4.1), so that what is held at once is what one block needs.

    No block starts before the one before it has ended, which TensorFlow's executor would not see to: what
    all rows share gets a zero added that is known only then. It also goes through every block and out of it
    again, so that its gradient is a running sum, not a list of as many parts as there are blocks, and one
    block after another is computed again.

    Args:
        function: Function of the place of the first row of a block, an int, of the block's rows, and of what
            is shared, which returns a float tensor [..., rows of the block, columns]. It has no other inputs
            that need a gradient; what it reads besides is made before all blocks and held.
        rows: Float tensors [..., count, columns], with as many rows, a static number.
        shared: Float tensors of any shape, the largest one that needs a gradient first.
        size: Number of rows of a block.

    Returns:
        A float tensor [..., count, columns].

    Example:

    >>> import numpy as np
    >>> rows, factor = np.array([[1.0], [2.0], [3.0]]), np.array(2.0)
    >>> doubled = in_row_blocks(lambda begin, own, shared: own[0] * shared[0], (rows,), (factor,), size=2)
    >>> np.array(doubled)[:, 0].tolist()
    [2.0, 4.0, 6.0]
    """
    shared = tuple(as_tensor(each) for each in shared)
    cuts = list(range(size, rows[0].shape[-2], size))
    # The gradient of a split is one concatenation.
    blocks = zip(*(_split(as_tensor(each), cuts) for each in rows))
    made: list[Tensor] = []
    for begin, own in zip((0, *cuts), blocks):
        after = ops.stop_gradient(zero_after(made[-1])) if made else ops.zeros((1,))
        *shared_again, block = keras.remat(_with_shared(function, begin, len(own)))(after, *own, *shared)
        shared = tuple(shared_again)
        made.append(block)
    return ops.concatenate(made, axis=-2)


def _split(rows: Tensor, cuts: list[int]) -> list[Tensor]:
    parts: list[Tensor] = ops.split(rows, cuts, axis=-2) if cuts else [rows]
    return parts


def _with_shared(function: OfRows, begin: int, count: int) -> Callable[..., Any]:
    # TensorFlow computes a block again once the gradient for the first of what is returned is known.
    def run(after: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        own, shared = tensors[:count], tensors[count:]
        known = tuple(each + ops.cast(ops.reshape(after, ()), each.dtype) for each in shared)
        return (*shared, function(begin, own, known))

    return run
