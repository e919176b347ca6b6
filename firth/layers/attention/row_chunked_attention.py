"""Attention that holds the scores of some queries at a time, for long rows."""

from collections.abc import Callable

from keras import ops

from firth.layers.attention.attention_bias import AttentionMask, Block, RowBias, states_from
from firth.layers.attention.block_sparse import BLOCK, read_blocks, suits_blocks
from firth.layers.attention.softmax_attention import group_bias, times, weigh_values
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.row_blocks import RowDropout, in_row_blocks
from firth.layers.elements.types import Tensor
from firth.recipes.models.block_counts import LONGEST_WHOLE

# Fewest queries whose scores are held at once, and scores of a head below which these are some more: fewer
# blocks take less time. The memory of a token does not grow with the rows; see
# `benchmarks.attention_memory`.
ROWS, SCORES = BLOCK, 2**19
# Loops that blocks are shared out to where each reads the keys up to its end.
CAUSAL_LOOPS = 4

# Further scores of some queries for some keys: a function of the queries [batch, heads, rows, head_width], of
# all keys, of where both are, and of tensors.
Terms = Callable[[Tensor, Tensor, Block, tuple[Tensor, ...]], Tensor]


def suits_rows(mask: AttentionMask) -> bool:
    """Returns true if scores are too many to be held at once: more than those of the longest whole rows.

    In shorter ones computing scores again for the gradient costs more than the memory is worth.
    """
    length, keys = mask.sizes
    return length is not None and keys is not None and length > ROWS and length * keys > LONGEST_WHOLE**2


def rows_at_once(keys: int) -> int:
    """Returns the number of queries whose scores are held at once."""
    return max(ROWS, SCORES // keys // ROWS * ROWS)


def bias_of_mask(mask: AttentionMask) -> Tensor | RowBias:
    """Returns the bias of a mask, written out only where the scores can be held at once."""
    return RowBias(mask) if suits_rows(mask) else mask.whole()


def read_by_rows(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: RowBias,
    dropout: Dropout,
    training: bool | None = None,
    prefix_length: int = 0,
    terms: Terms | None = None,
    of_terms: tuple[Tensor, ...] = (),
) -> Tensor:
    """Returns the mean of values that each query sees, as `read_heads` does.

    Nothing that attention makes for each query and key is kept: it is made for a block of queries at a time,
    and again in the backward pass (Rabe and Staats 2021, "Self-attention Does Not Need O(n^2) Memory",
    section 3; here all keys of a query together). Keys that causality or a window hides from a whole block of
    queries are not read.

    Args:
        query: Float tensor [group, batch, heads, length, head_width], scaled.
        key: Float tensor [batch, heads, prefix_length + keys, head_width].
    """
    noise = RowDropout(dropout, ops.shape(key)[0], training)
    ends = (len(bias.tensors), len(bias.tensors) + len(noise.tensors))
    all_keys = key.shape[-2]
    by_blocks = bias.hides and not prefix_length and suits_blocks(bias.length, all_keys)

    def read(begin: Tensor, end: int, own: tuple[Tensor, ...], shared: tuple[Tensor, ...]) -> Tensor:
        key, value, *held = shared
        (rows,) = own
        known = bias.with_tensors(tuple(held[: ends[0]]))
        block = known.block(begin, rows.shape[-2], end)
        added = known.rows(block)
        if terms is not None:
            added = added + terms(rows[0], key, block, tuple(held[ends[1] :]))
        drawn = _BlockDropout(noise, tuple(held[ends[0] : ends[1]]), (bias.length, all_keys), block)
        of_key, of_value = (_of_keys(each, prefix_length, block) for each in (key, value))
        if by_blocks:
            return read_blocks(rows, of_key, of_value, added, drawn.blocks, begin - block[0][1])
        return _read(rows, of_key, of_value, added, drawn, prefix_length)

    shared = (key, value, *bias.tensors, *noise.tensors, *of_terms)
    loops = CAUSAL_LOOPS if bias.causal and not by_blocks else 1
    return in_row_blocks(read, (query,), shared, rows_at_once(all_keys), loops)


def _of_keys(states: Tensor, prefix_length: int, block: Block) -> Tensor:
    """Returns the states of the prefix and of the keys of a block."""
    (_, first), (_, count) = block
    if isinstance(first, int):
        return states[:, :, : prefix_length + count]
    found = states_from(states, prefix_length + first, count)
    return ops.concatenate([states[:, :, :prefix_length], found], axis=2) if prefix_length else found


class _BlockDropout:
    """The dropout of the scores of some queries."""

    def __init__(
        self, noise: RowDropout, tensors: tuple[Tensor, ...], sizes: tuple[int, int], block: Block
    ) -> None:
        self._noise, self._tensors, self._sizes, self._block = noise, tensors, sizes, block

    def factors(self, scores: Tensor, prefix_length: int, dtype: str) -> Tensor | None:
        """Returns the factors of probabilities [..., batch, heads, rows, keys]."""
        groups = scores.shape[0] if len(scores.shape) == 5 else 1
        heads = scores.shape[-3]
        shape = (groups * heads, *self._sizes)
        (begin, first), (rows, count) = self._block
        # Keys that begin at the first one follow the prefix.
        parts = [(0, prefix_length + count)]
        if not isinstance(first, int):
            parts = [(0, prefix_length)] * bool(prefix_length) + [(prefix_length + first, count)]
        made = [
            self._noise.factors(self._tensors, shape, (begin, left), (rows, each), dtype)
            for left, each in parts
        ]
        if made[0] is None:
            return None
        found = ops.concatenate(made, axis=-1) if len(made) > 1 else made[0]
        if len(scores.shape) == 4:
            return found
        apart = ops.reshape(found, (-1, groups, heads, *ops.shape(found)[2:]))
        return ops.transpose(apart, (1, 0, 2, 3, 4))

    def blocks(self, shares: Tensor, parts: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Returns probabilities of blocks of queries and keys after dropout; see `read_blocks`."""
        examples, of_queries, of_keys = (ops.cast(each, "int32") for each in parts)
        (begin, first), _ = self._block
        places = (of_queries + begin // BLOCK) * (self._sizes[1] // BLOCK)
        return self._noise.of_parts(self._tensors, shares, (examples, places + of_keys + first // BLOCK))


def _read(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, drawn: _BlockDropout, prefix_length: int
) -> Tensor:
    # Without a group, four axes are faster than five.
    read = ops.squeeze(query, 0) if query.shape[0] == 1 else query
    scores = ops.add(ops.cast(times(read, key), "float32"), group_bias(bias, read))
    found = weigh_values(scores, value, drawn.factors(scores, prefix_length, value.dtype))
    return ops.reshape(found, (query.shape[0], *ops.shape(found)[-4:]))
