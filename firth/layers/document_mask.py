"""Which tokens of a packed row may see each other."""

from keras import ops

# Far below any score, and still finite in bfloat16.
_NEVER = -1e9


def document_bias(document_ids):
    """Returns what is added to attention scores so that documents of one row never see each other.

    It is 0 where query and key have the same document id and -1e9 elsewhere. Padding (id 0) sees only
    padding: no row of the scores is masked as a whole, so all stay finite, and no document sees padding.

    Args:
        document_ids: Int tensor [batch, length], 0 on padding.

    Returns:
        float32 [batch, 1, length, length], with one head to broadcast over.

    Example:

    >>> import numpy as np
    >>> (np.array(document_bias(np.array([[1, 1, 2, 0]])))[0, 0] == 0).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    """
    queries = ops.expand_dims(document_ids, 2)
    keys = ops.expand_dims(document_ids, 1)
    return ops.expand_dims(ops.cast(ops.not_equal(queries, keys), "float32") * _NEVER, 1)
