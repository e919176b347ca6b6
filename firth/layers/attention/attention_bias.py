"""Attention masks and biases of packed rows, whole or made for some queries at a time."""

from collections.abc import Sequence

from keras import ops

from firth.layers.attention.block_sparse import BLOCK
from firth.layers.attention.key_value_cache import places_from
from firth.layers.elements.custom_gradient import as_tensor
from firth.layers.elements.rematerialisation import TensorHolder
from firth.layers.elements.types import Tensor
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias

# Far below any score, and still finite in bfloat16.
_NEVER = -1e9


# The first queries of a block and the first keys that they read, ints or int scalar tensors, and the numbers
# of both.
Block = tuple[tuple[Tensor | int, Tensor | int], tuple[int, int]]


def attention_bias(
    document_ids: Tensor,
    attention_order: Tensor | None = None,
    causal: bool = False,
    first: Tensor | int = 0,
    key_document_ids: Tensor | None = None,
    key_attention_order: Tensor | None = None,
) -> Tensor:
    """Returns the bias of attention scores with which a token reads only the tokens that it may see.

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


class AttentionMask(TensorHolder):
    """Mask of the keys that the queries of packed rows see; see `attention_bias`.

    Args:
        document_ids: Int tensor [batch, length], 0 on padding; of the queries.
        attention_order: Int tensor [batch, length], or None for no order.
        key_document_ids: Int tensor [batch, keys]; the queries' own where it is None.
        key_attention_order: Int tensor [batch, keys]; the queries' own where it is None.

    Example:

    >>> import numpy as np
    >>> mask = AttentionMask(np.array([[1, 1, 2, 0]]), causal=True)
    >>> (np.array(mask.rows(((2, 0), (2, 4))))[0, 0] == 0).astype(int).tolist()
    [[0, 0, 1, 0], [0, 0, 0, 1]]
    """

    def __init__(
        self,
        document_ids: Tensor,
        attention_order: Tensor | None = None,
        causal: bool = False,
        key_document_ids: Tensor | None = None,
        key_attention_order: Tensor | None = None,
    ) -> None:
        self.causal = causal
        own = (document_ids, attention_order)
        of_keys = (key_document_ids, key_attention_order)
        self.tensors = tuple(
            ops.convert_to_tensor(each)
            for pair in zip(own, (key if key is not None else query for query, key in zip(own, of_keys)))
            for each in pair
            if each is not None
        )

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        """The numbers of queries and of keys; None for one that is known only when a graph runs."""
        return self.tensors[0].shape[1], self.tensors[1].shape[1]

    def whole(self) -> Tensor:
        """Returns the bias of all queries, float32 [batch, 1, length, keys]."""
        return self._bias(self.tensors)

    def rows(self, block: Block) -> Tensor:
        """Returns the bias of some queries and keys, float32 [batch, 1, rows, keys]."""
        firsts, sizes = block
        parts = [tokens_from(each, *cut) for each, cut in zip(self.tensors, (*zip(firsts, sizes),) * 2)]
        return self._bias(parts, firsts[0] - firsts[1])

    def _bias(self, tensors: Sequence[Tensor], first: Tensor | int = 0) -> Tensor:
        ids, key_ids, *orders = tensors
        order, key_order = orders or (None, None)
        return attention_bias(ids, order, self.causal, first, key_ids, key_order)


class RowBias(TensorHolder):
    """The bias of a mask, a window and distances, made for some queries at a time.

    Args:
        places: Int tensor [batch or 1, length], places of the queries after the prefix; with distances and a
            prefix only.

    Attributes:
        tensors: All that the bias is made of, float32.
        causal: Whether it hides every key after its query.
        hides: Whether it hides every key after its query, or all that are not near it.

    Example:

    >>> import numpy as np
    >>> bias = RowBias(AttentionMask(np.array([[1, 1, 1, 1]]), causal=True))
    >>> np.array(bias.rows(bias.block(begin=1, size=2, end=3))).shape
    (1, 1, 2, 3)
    """

    def __init__(
        self,
        mask: AttentionMask,
        distances: RelativeBucketBias | None = None,
        window: int | None = None,
        bidirectional: bool = True,
        prefix_length: int = 0,
        places: Tensor | None = None,
    ) -> None:
        self._mask, self._distances = mask, distances
        self._window, self._bidirectional, self._prefix_length = window, bidirectional, prefix_length
        # Floats can go into functions that have gradients; numbers of documents and places are exact.
        of_mask = [ops.cast(each, "float32") for each in mask.tensors]
        table = [] if distances is None else [as_tensor(distances.table)]
        with_places = distances is not None and prefix_length
        self.tensors = (*of_mask, *table, *([ops.cast(places, "float32")] if with_places else []))
        self.causal, self.hides = mask.causal, mask.causal or window is not None
        # Rows are made only where both numbers are known; one that is not is 0.
        self.length, self._keys = (size or 0 for size in mask.sizes)

    def block(self, begin: Tensor | int, size: int, end: int) -> Block:
        """Returns the keys that are read for some queries: all that one of them can see, and maybe others.

        With a window they begin at the border of a block of keys; see `firth.layers.attention.block_sparse`.
        """
        count = min(self._keys, end) if self.causal else self._keys
        if self._window is None:
            return (begin, 0), (size, count)
        before, after = (self._window // 2,) * 2 if self._bidirectional else (self._window, 0)
        around = -(-(before + size + after + BLOCK - 1) // BLOCK) * BLOCK
        if around >= count:
            return (begin, 0), (size, count)
        first = ops.convert_to_tensor(begin - before, dtype="int32") // BLOCK * BLOCK
        return (begin, ops.clip(first, 0, count - around)), (size, around)

    def rows(self, block: Block) -> Tensor:
        """Returns the bias of some queries, float32 [batch, heads or 1, rows, prefix_length + keys]."""
        count = len(self._mask.tensors)
        table, *places = self.tensors[count:] or (None,)
        bias = self._mask.with_tensors(self.tensors[:count]).rows(block)
        (begin, first), (rows, keys) = block
        if self._window is not None:
            # The places of both are counted from the first of the keys.
            bias = bias + window_bias(
                places_from(begin - first, rows), keys, self._window, self._bidirectional
            )
        if self._distances is not None:
            bias = bias + self._distances.of_block(table, begin - first, (rows, keys))
        return self._with_prefix(bias, table, places, (begin, rows)) if self._prefix_length else bias

    def _with_prefix(
        self, bias: Tensor, table: Tensor | None, places: list[Tensor], rows: tuple[Tensor | int, int]
    ) -> Tensor:
        if self._distances is None or table is None:
            return ops.pad(bias, ((0, 0), (0, 0), (0, 0), (self._prefix_length, 0)))
        own = ops.cast(tokens_from(places[0], *rows), "int32")
        keys = ops.expand_dims(ops.arange(self._prefix_length, dtype="int32"), 0)
        of_prefix = self._distances.of_table(table, own, keys)
        shape = (ops.shape(bias)[0], *ops.shape(of_prefix)[1:])
        return ops.concatenate([ops.broadcast_to(of_prefix, shape), bias], axis=-1)


def window_bias(places: Tensor, keys: Tensor | int, window: int, bidirectional: bool) -> Tensor:
    """Returns the bias that hides the tokens that are not around a query.

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


def tokens_from(values: Tensor, first: Tensor | int, count: int) -> Tensor:
    """Returns values of some neighbouring tokens, [batch, count].

    Args:
        values: Tensor [batch, length].
    """
    return ops.take(values, ops.arange(count, dtype="int32") + first, axis=1)


def states_from(states: Tensor, first: Tensor | int, count: int) -> Tensor:
    """Returns the states of some neighbouring tokens, or distances, [batch, heads, count, width].

    Args:
        states: Float tensor [batch, heads, length, width].
    """
    if isinstance(first, int):
        return states[:, :, first : first + count]
    batch, heads, _, width = ops.shape(states)
    return ops.slice(states, (0, 0, first, 0), (batch, heads, count, width))
