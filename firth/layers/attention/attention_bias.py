"""Which tokens of a packed row may see each other."""

from keras import ops

from firth.layers.attention.key_value_cache import places_from
from firth.layers.elements.types import Tensor

# Far below any score, and still finite in bfloat16.
_NEVER = -1e9


def attention_bias(
    document_ids: Tensor,
    attention_order: Tensor | None = None,
    causal: bool = False,
    first: Tensor | int = 0,
    key_document_ids: Tensor | None = None,
    key_attention_order: Tensor | None = None,
) -> Tensor:
    """Returns what is added to attention scores so that a token reads only what it may see.

    Query i sees key j if both have the same document id and, with an order, if the order of j is not above
    that of i, and, with `causal`, if j is not after i. Padding (id 0) sees only padding: no document sees
    it, and the scores of a query that sees no key stay finite.

    Args:
        document_ids: Int tensor [batch, length], 0 on padding; of the queries.
        attention_order: Int tensor [batch, length], or None for no order.
        first: Place of the first query among the keys: an int scalar, or int [batch] where rows differ in it.
        key_document_ids: Int tensor [batch, keys]; the queries' own where it is None.
        key_attention_order: Int tensor [batch, keys]; the queries' own where it is None.

    Returns:
        float32 [batch, 1, length, keys], 0 or -1e9, with one head to broadcast over.

    Example:

    >>> import numpy as np
    >>> (np.array(attention_bias(np.array([[1, 1, 2, 0]])))[0, 0] == 0).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> (np.array(attention_bias(np.array([[1, 1, 2, 0]]), causal=True))[0, 0] == 0).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    """
    keys = document_ids if key_document_ids is None else key_document_ids
    visible = ops.equal(ops.expand_dims(document_ids, 2), ops.expand_dims(keys, 1))
    if attention_order is not None:
        of_keys = attention_order if key_attention_order is None else key_attention_order
        not_above = ops.less_equal(ops.expand_dims(of_keys, 1), ops.expand_dims(attention_order, 2))
        visible = ops.logical_and(visible, not_above)
    if causal:
        places = ops.expand_dims(places_from(first, ops.shape(document_ids)[1]), 2)
        not_after = ops.arange(ops.shape(keys)[1], dtype="int32") <= places
        visible = ops.logical_and(visible, not_after)
    return bias_where(visible)


def window_bias(places: Tensor, keys: Tensor | int, window: int, bidirectional: bool) -> Tensor:
    """Returns what hides the tokens that are not around a query.

    Args:
        places: int32 [batch or 1, length], places of the queries among the keys.

    Returns:
        float32 [batch or 1, 1, length, keys], 0 or -1e9.

    Example:

    >>> import numpy as np
    >>> hidden = window_bias(np.arange(4)[None], 4, window=2, bidirectional=True)
    >>> (np.array(hidden)[0, 0] == 0).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    """
    back = ops.expand_dims(ops.cast(places, "int32"), 2) - ops.arange(keys, dtype="int32")
    reach = window // 2 if bidirectional else window
    near = ops.less_equal(back, reach)
    if bidirectional:
        near = ops.logical_and(near, ops.greater_equal(back, -reach))
    return bias_where(near)


def bias_where(visible: Tensor) -> Tensor:
    """Returns 0 where a key is visible and -1e9 elsewhere.

    Args:
        visible: Bool tensor [batch, length, keys].

    Returns:
        float32 [batch, 1, length, keys].

    Example:

    >>> import numpy as np
    >>> np.array(bias_where(np.array([[[True, False]]]))).tolist() == [[[[0.0, -1e9]]]]
    True
    """
    return ops.expand_dims(ops.cast(ops.logical_not(visible), "float32") * _NEVER, 1)
