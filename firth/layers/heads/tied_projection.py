"""The projection to the vocabulary whose weights are the token embeddings."""

from keras import ops

from firth.layers.elements.products import times_transposed
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
    return times_transposed(hidden, table)


def tied_logits(rows: Tensor, table: Tensor, bias: Tensor, places: Shape) -> Tensor:
    """Returns the logits of every token, by the table of token embeddings.

    Args:
        rows: Float tensor [count, width].
        table: Float tensor [vocabulary_size, width].
        bias: Float32 tensor [vocabulary_size].

    Returns:
        float32 [*places, vocabulary_size].
    """
    logits = tied_projection(rows, ops.cast(table, rows.dtype))
    logits = ops.add(ops.cast(logits, "float32"), ops.cast(bias, "float32"))
    return ops.reshape(logits, (*places, bias.shape[0]))
