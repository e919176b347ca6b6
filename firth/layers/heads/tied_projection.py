"""The projection to the vocabulary whose weights are the token embeddings."""

from collections.abc import Callable
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Shape, Tensor


def tied_projection(hidden: Tensor, table: Tensor) -> Tensor:
    """Returns `hidden @ table.T`.

    Press and Wolf 2016, "Using the Output Embedding to Improve Language Models", section 3. The gradients are
    written out so that the table's comes in the table's own layout: derived step by step it is computed
    transposed, and the transpose of a whole vocabulary costs as much as a third of the projection.

    Args:
        hidden: Float tensor [count, width].
        table: Float tensor [vocabulary, width] of the same dtype.

    Returns:
        Float tensor [count, vocabulary].

    Example:

    >>> import numpy as np
    >>> np.array(tied_projection(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0], [0.0, 5.0]]))).tolist()
    [[3.0, 10.0]]
    """

    @custom_gradient
    def project(hidden: Tensor, table: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            return ops.matmul(upstream, table), ops.matmul(ops.transpose(upstream), hidden)

        return ops.matmul(hidden, ops.transpose(table)), gradient

    return project(hidden, table)


def tied_logits(rows: Tensor, table: Tensor, bias: Tensor, places: Shape) -> Tensor:
    """Returns the logits of every token, by the table of token embeddings.

    Args:
        rows: Float tensor [count, width].
        table: Float tensor [vocabulary_size, width].
        bias: Float32 tensor [vocabulary_size].
        places: Shape that the rows had before they were joined, whose product is `count`.

    Returns:
        float32 [*places, vocabulary_size].
    """
    logits = tied_projection(rows, ops.cast(table, rows.dtype))
    logits = ops.add(ops.cast(logits, "float32"), ops.cast(bias, "float32"))
    return ops.reshape(logits, (*places, bias.shape[0]))
