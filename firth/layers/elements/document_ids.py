"""Masks of Keras as what layers read of rows: document ids, and biases of attention."""

from typing import Any

from keras import ops

from firth.layers.elements.types import Tensor


def document_ids_of(hidden: Tensor, document_ids: Tensor | None, mask: Tensor | None) -> Tensor:
    """Returns the documents of tokens, int32 [batch, length], 0 on padding.

    Args:
        hidden: Tensor [batch, length, ...].
        document_ids: Int tensor [batch, length]; None for rows of one document.
        mask: Bool tensor [batch, length], False on padding, as Keras hands it on from an embedding with
            `mask_zero`; None for no further padding.

    Example:

    >>> import numpy as np
    >>> hidden, mask = np.ones((1, 3, 4)), np.array([[True, True, False]])
    >>> np.array(document_ids_of(hidden, None, mask)).tolist()
    [[1, 1, 0]]
    >>> np.array(document_ids_of(hidden, np.array([[1, 2, 2]]), mask)).tolist()
    [[1, 2, 0]]
    """
    if document_ids is None:
        return ops.ones(ops.shape(hidden)[:2], "int32") if mask is None else ops.cast(mask, "int32")
    return document_ids if mask is None else ops.where(mask, document_ids, 0)


def with_mask(bias: Any, mask: Tensor | None) -> Any:
    """Returns a bias of attention that also hides the keys that a mask hides.

    Args:
        bias: Float32 tensor [batch or 1, heads or 1, length, keys], or None.
        mask: Bool tensor [batch, keys], False on what is hidden; None to hide nothing more.

    Raises:
        ValueError: for a mask next to a bias that is not a tensor.

    Example:

    >>> import numpy as np
    >>> with_mask(None, None) is None, np.array(with_mask(None, np.array([[True, False]]))).tolist()
    (True, [[[[0.0, -1000000000.0]]]])
    """
    if mask is None:
        return bias
    hidden = ops.where(ops.expand_dims(mask, (1, 2)), 0.0, -1e9)
    if bias is None:
        return hidden
    if not hasattr(bias, "shape"):
        raise ValueError(f"a mask cannot be joined with a bias of the type {type(bias).__name__}")
    return ops.add(bias, hidden)
