"""The mean of each document's hidden states."""

from keras import ops

from firth.layers.elements.types import Tensor


def document_means(hidden: Tensor, document_ids: Tensor, documents: int) -> Tensor:
    """Returns the mean of the hidden states of each document of a row, special tokens among them.

    It is the mean pooling of sentence encoders (Reimers and Gurevych 2019, section 3).

    Args:
        hidden: Float tensor [batch, length, width].
        document_ids: Int tensor [batch, length], 0 on padding and i + 1 on document i.

    Returns:
        Float tensor [batch, documents, width]; zeros for a document that is not there.

    Example:

    >>> import numpy as np
    >>> hidden = np.array([[[1.0], [3.0], [5.0], [9.0]]])
    >>> np.array(document_means(hidden, np.array([[1, 1, 2, 0]]), 3)).tolist()
    [[[2.0], [5.0], [0.0]]]
    """
    places = ops.reshape(ops.arange(1, documents + 1, dtype="int32"), (1, -1, 1))
    belongs = ops.equal(ops.expand_dims(ops.cast(document_ids, "int32"), 1), places)
    counts = ops.sum(ops.cast(belongs, "float32"), axis=-1, keepdims=True)
    sums = ops.cast(ops.matmul(ops.cast(belongs, hidden.dtype), hidden), "float32")
    return ops.cast(sums / ops.maximum(counts, 1.0), hidden.dtype)
